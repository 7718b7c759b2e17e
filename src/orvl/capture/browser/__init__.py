"""A real browser looks at what a run made: pictures, what went wrong, and whether scripted steps work."""
