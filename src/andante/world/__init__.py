"""What is searched: grids, graphs, heuristics and problems, and the files that hold them."""
