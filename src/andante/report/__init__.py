"""Tables, plots, pictures and pages. Everything here reads rows and traces only, never agents."""
