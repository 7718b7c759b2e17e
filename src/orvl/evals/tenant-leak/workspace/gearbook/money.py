"""Money is whole cents. Only what people read has a comma or a point."""


def shown(cents):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}.{rest:02d}"


def parse(text):
    """Cents of `12`, `12.5` or `12.50`; None for anything else."""
    text = str(text).strip().replace(",", ".")
    sign = -1 if text.startswith("-") else 1
    whole, _, rest = text.lstrip("-").partition(".")
    if not whole.isdigit() or len(rest) > 2 or (rest and not rest.isdigit()):
        return None
    return sign * (int(whole) * 100 + int((rest + "00")[:2]))
