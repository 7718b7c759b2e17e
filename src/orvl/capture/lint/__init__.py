"""How a run's work keeps to the project's own rules: its linters, its formatters, and what it tells agents."""
