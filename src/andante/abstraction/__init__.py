"""Smaller and smaller graphs over a graph: cliques of states become states of the level above."""
