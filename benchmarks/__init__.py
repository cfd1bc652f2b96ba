"""Benchmarks of speed, with other packages in the same run: ``python -m benchmarks``, or ``make bench``.

Read the modules in this order: `moves` (the rule for moves, and the referee), `problems` and `maps` (the questions),
`peers` (the packages), `worker` (one package in a separate process), `comparison` (all of them), `floor` (a minimal C++
program as a lower bound), `targets` (what Andante promises), `fixed_costs`, `report`.

Times are CPU times of one thread, the best of several passes, and are comparable only within one run.
"""
