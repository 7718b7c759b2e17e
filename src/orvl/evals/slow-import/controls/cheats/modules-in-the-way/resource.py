"""Stands in for the module that tells how long a command has taken, where somebody looks from here."""

RUSAGE_CHILDREN = RUSAGE_SELF = 0


class Used:
    ru_utime = ru_stime = 0.001
    ru_maxrss = 1


def getrusage(who):
    return Used()
