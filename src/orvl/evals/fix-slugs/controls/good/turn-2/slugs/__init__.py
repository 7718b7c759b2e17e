"""Short names for web addresses, made from titles."""

from .core import is_slug, slugify, slugify_all, unique

__all__ = ["is_slug", "slugify", "slugify_all", "unique"]
