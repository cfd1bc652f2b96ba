"""A hierarchy of ever smaller graphs: cliques of states become the states of the level above."""
