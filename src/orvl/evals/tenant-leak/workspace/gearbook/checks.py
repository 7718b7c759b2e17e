"""Small tests on what comes in."""

from pinion import abort


def text_of(data, name, longest=400, required=True):
    """A text field of a form or of JSON."""
    value = data.get(name)
    if value is None or value == "":
        if required:
            abort(400, f"{name} is missing.")
        return ""
    if not isinstance(value, str) or len(value) > longest:
        abort(400, f"{name} must be a text of at most {longest} letters.")
    return value.strip()


def choice_of(data, name, choices):
    value = data.get(name)
    if value not in choices:
        abort(400, f"{name} must be one of {', '.join(choices)}.")
    return value


def number_of(data, name, least=0, most=10**9, required=True):
    value = data.get(name)
    if value in (None, "") and not required:
        return None
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        abort(400, f"{name} must be a number from {least} to {most}.")
    return value


def ids_of(data, name, most=200):
    """A list of ids, each once, in their order."""
    value = data.get(name)
    if not isinstance(value, list) or not value or len(value) > most:
        abort(400, f"{name} must be a list of 1 to {most} ids.")
    if any(isinstance(one, bool) or not isinstance(one, int) or not 0 < one < 10**12 for one in value):
        abort(400, f"{name} must be ids.")
    return list(dict.fromkeys(value))
