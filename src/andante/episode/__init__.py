"""The agent loop: it keeps time, counts, enforces limits and records traces; the agent only plans."""
