"""Real agents in the real sandbox, against a scripted model: `make conformance`."""
