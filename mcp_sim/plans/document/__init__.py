"""Documents whose parts are ordered and addressed by index."""
