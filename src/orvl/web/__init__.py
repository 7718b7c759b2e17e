"""The viewer and the one-file report: what `rate` and `trust` computed, as pages that need no script."""
