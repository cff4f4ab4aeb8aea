"""Work on texts: count, change, encode, match, generate."""
