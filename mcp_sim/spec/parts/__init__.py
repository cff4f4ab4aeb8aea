"""The pydantic models of what documents may contain."""
