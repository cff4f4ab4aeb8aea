"""Render results in the form of a tool, and find records in rendered results."""
