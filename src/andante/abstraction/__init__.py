"""A hierarchy of ever smaller graphs, in which cliques of states become the states of the level above."""
