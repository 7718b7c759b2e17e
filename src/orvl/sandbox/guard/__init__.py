"""The guard process, one per slot: it runs one job at a time, watches its limits, and lets nothing of it survive.

It is a program of its own for two reasons. It is a subreaper, so every process of a job, daemons included, is below it
and can be found and killed; orvl itself has other children, and could not tell whose is whose. And when orvl dies,
however it dies, its socket closes, and the guard can still clean up. It uses the standard library alone, so that it
starts quickly, stays small, and cannot break with orvl's dependencies.
"""
