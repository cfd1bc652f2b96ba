"""The agent loop: it owns time, caps, counting and traces; the agent owns thought."""
