"""Compute: results that depend on the arguments, the time and the seed only."""
