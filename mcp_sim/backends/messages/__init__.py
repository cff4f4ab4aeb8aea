"""Messages between people without ids of their own: sent to somebody, read back by conversation; and who there is."""
