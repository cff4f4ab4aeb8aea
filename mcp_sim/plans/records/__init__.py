"""Tools on records: look up, select and write them, and render results."""
