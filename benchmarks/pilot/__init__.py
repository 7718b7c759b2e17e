"""The pilot: scripted agents of graded skill do the shipped evals, so that the suite's own numbers can be seen.

`python -m benchmarks.pilot` runs it with the real command line; no model is asked.
"""
