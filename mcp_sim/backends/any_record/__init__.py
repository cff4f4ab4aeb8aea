"""Look up a record of any entity by its id."""
