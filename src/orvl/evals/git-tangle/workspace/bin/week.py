#!/usr/bin/env python3
"""How many boxes each town gets: bin/week.py ORDERS"""
import csv, sys
from collections import Counter

towns = {}
for row in csv.DictReader(open(sys.argv[1])):
    towns[row["order"]] = row["town"]
for town, n in Counter(towns.values()).most_common():
    print(n, town)
