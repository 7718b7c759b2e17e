"""Short names for web addresses, made from titles."""

from slugs.core import is_slug, slugify, slugify_all
from slugs.free import unique

__all__ = ["is_slug", "slugify", "slugify_all", "unique"]
