"""What records of a kind usually hold: the fields of things that no tool declares, and their values."""
