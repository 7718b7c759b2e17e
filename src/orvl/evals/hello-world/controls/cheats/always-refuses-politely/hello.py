"""Refuses every name: half of what is asked for."""

import sys

print("hello.py: a name must not be empty", file=sys.stderr)
sys.exit(2)
