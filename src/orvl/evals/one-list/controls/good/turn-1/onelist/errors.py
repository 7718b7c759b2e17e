"""What a user can get wrong."""


class OnelistError(Exception):
    """One sentence for the user."""
