"""What the application does, apart from the web. Functions take a connection first, then the workshop's id."""
