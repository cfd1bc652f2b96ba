"""Running agents: the loop, which handles time, limits, counting and traces, and what is made from it."""
