"""Speed, side by side with peers in one run: ``python -m benchmarks``, or ``make bench``.

Read it in this order: `moves` (the rule everybody plays by, and the referee), `problems` and `maps` (what is asked),
`peers` (who is asked), `worker` (one of them, in a process of its own), `comparison` (all of them), `floor` (a lean C++
program to measure against), `targets` (what Andante promises), `fixed_costs`, `report`.

Times are CPU times of one thread, best of several passes, and mean something only as ratios within one run.
"""
