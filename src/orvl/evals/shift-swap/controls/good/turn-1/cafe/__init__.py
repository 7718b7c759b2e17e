"""The shifts of the café, without the web around them."""
