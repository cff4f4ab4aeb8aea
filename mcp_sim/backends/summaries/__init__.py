"""Summarise records: statistics and counts."""
