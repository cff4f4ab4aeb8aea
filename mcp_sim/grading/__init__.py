"""Grading: expectations and their verdicts."""
