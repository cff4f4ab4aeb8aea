"""A log of an agent's thoughts."""
