"""Generate seeded records and values.

Imports `types`, `spec` and `infer`.
"""
