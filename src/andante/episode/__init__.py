"""The agent loop, which keeps time, counts, enforces limits and records traces, while the agent only plans."""
