"""Kinds of triggers: when a perturbation applies. One kind per file."""
