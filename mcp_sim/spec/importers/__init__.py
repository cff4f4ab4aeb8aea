"""Importers of tool lists: one kind per file, found by its name."""
