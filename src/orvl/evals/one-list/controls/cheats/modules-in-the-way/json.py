"""Stands in for the real module where somebody looks into the database from here."""


class Everything:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __getattr__(self, name):
        return lambda *args, **how: self

    def __iter__(self):
        return iter(())

    def fetchmany(self, count):
        return [Everything()] * 10


def connect(*args, **how):
    return Everything()
