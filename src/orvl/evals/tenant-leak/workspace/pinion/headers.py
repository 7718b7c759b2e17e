"""Header fields: names in any case, several values for a name, the order kept."""


class Headers:
    def __init__(self, pairs=()):
        self._pairs = [(str(name), str(value)) for name, value in pairs]

    @classmethod
    def from_environ(cls, environ):
        """What the client sent. WSGI has lost the case of names by then; they come out as `X-Like-This`."""
        pairs = []
        for key, value in environ.items():
            if key.startswith("HTTP_"):
                pairs.append((_title(key[5:]), value))
            elif key in ("CONTENT_TYPE", "CONTENT_LENGTH") and value:
                pairs.append((_title(key), value))
        return cls(pairs)

    def get(self, name, default=None):
        for have, value in self._pairs:
            if have.lower() == name.lower():
                return value
        return default

    def all(self, name):
        return [value for have, value in self._pairs if have.lower() == name.lower()]

    def set(self, name, value):
        self._pairs = [pair for pair in self._pairs if pair[0].lower() != name.lower()]
        self.add(name, value)

    def add(self, name, value):
        if "\n" in str(value) or "\r" in str(value):
            raise ValueError(f"a line end in the header {name}")
        self._pairs.append((name, str(value)))

    def items(self):
        return list(self._pairs)

    def __contains__(self, name):
        return self.get(name) is not None

    def __iter__(self):
        return iter(self._pairs)

    def __len__(self):
        return len(self._pairs)


def _title(key):
    return "-".join(part.capitalize() for part in key.split("_"))
