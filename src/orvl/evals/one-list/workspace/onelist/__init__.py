"""One list of the customers of web shop, till and newsletter."""
