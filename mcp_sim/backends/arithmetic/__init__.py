"""Calculate: numbers, lists, matrices, units, expressions."""
