"""Studies: one folder per seed, each a data file with the paper's numbers and the results of a real run."""
