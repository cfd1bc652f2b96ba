"""Tables, plots, pictures and pages. All of it reads rows and traces only, never agents."""
