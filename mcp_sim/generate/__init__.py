"""Generate seeded records and values.

Imports `types` and `spec`.
"""
