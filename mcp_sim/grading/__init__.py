"""Grading: expectations and their verdicts.

May import `faults`, `models` and everything below them.
"""
