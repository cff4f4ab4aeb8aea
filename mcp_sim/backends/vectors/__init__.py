"""Collections of texts that are found by what they are about."""
