"""Compile documents into a scenario."""
