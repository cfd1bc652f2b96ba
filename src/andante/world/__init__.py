"""Grids, graphs, heuristics and problems, and the files that contain them."""
