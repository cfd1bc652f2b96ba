"""What is searched: grids, graphs, heuristics, problems, and the files they come from."""
