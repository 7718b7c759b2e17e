"""Statistics over ratings: pure numbers."""
