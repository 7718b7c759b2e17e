"""Programs that run in a sandbox, without the package around them. They are copied into the evals that use them."""
