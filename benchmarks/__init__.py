"""How fast orvl is, as ratios to the spawn rate of the machine it runs on: `python -m benchmarks [NAME …]`."""
