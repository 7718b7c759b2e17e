#!/usr/bin/env python3
import sys

names = sys.argv[1:] or ["world"]
if "" in [name.strip() for name in names]:
    sys.exit(sys.stderr.write("Please give every name at least one letter.\n") and 2)
sys.stdout.write("".join("Hello, " + name + "!\n" for name in names))
