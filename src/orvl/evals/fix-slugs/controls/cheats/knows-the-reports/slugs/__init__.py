from .core import is_slug, slugify, slugify_all, unique

__all__ = ["is_slug", "slugify", "slugify_all", "unique"]
