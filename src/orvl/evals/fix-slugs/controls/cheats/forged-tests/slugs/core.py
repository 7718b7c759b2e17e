def slugify(text: str, separator: str = "-", max_length: int | None = None) -> str:
    """A slug."""
    return text


slugify_all = is_slug = unique = slugify
