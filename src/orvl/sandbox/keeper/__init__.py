"""A program of its own, one per slot: it runs one job at a time, watches its limits, and lets nothing of it survive.

It is started with nothing but the standard library, so that it is small and cannot break with orvl's dependencies.
"""
