"""The ladder of controls over a panel of judges, and the certificate that comes of it."""
