"""Tasks of other tools → evals: what is read is somebody else's, and nothing of it is executed here."""
