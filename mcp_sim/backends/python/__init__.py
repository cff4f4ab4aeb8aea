"""Answer tools with Python functions of the spec's author."""
