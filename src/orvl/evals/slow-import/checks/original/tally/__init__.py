"""Takes in what the partner sold for us, and sends back what we booked."""

VERSION = "2.7"
