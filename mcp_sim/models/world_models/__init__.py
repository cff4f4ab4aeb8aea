"""Kinds of world models: what predicts the result of a call. One kind per file."""
