"""Backends: kinds of store that tools work on, one package each, and what they share.

Imports `types`, `world`, `spec`, `infer` and `generate`.
"""
