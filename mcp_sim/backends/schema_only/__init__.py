"""Answer tools of which only the form of the result is known."""
