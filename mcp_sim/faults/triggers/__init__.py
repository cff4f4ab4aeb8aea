"""Triggers: when a perturbation applies; one kind per file."""
