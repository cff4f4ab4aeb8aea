"""Generate seeded records and values."""
