"""Render outcomes of calls as results of a tool, and find records in rendered results."""
