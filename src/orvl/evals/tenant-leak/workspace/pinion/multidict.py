"""Fields of a query or a form: mostly one value a name, now and then more."""

from urllib.parse import parse_qsl


class MultiDict:
    def __init__(self, pairs=()):
        self._pairs = list(pairs)

    @classmethod
    def parse(cls, text):
        return cls(parse_qsl(text, keep_blank_values=True))

    def get(self, name, default=None, type=None):
        for have, value in self._pairs:
            if have != name:
                continue
            if type is None:
                return value
            try:
                return type(value)
            except (ValueError, TypeError):
                return default
        return default

    def all(self, name):
        return [value for have, value in self._pairs if have == name]

    def items(self):
        return list(self._pairs)

    def names(self):
        return list(dict(self._pairs))

    def __contains__(self, name):
        return any(have == name for have, _ in self._pairs)

    def __getitem__(self, name):
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __bool__(self):
        return bool(self._pairs)
