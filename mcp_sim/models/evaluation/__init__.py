"""Evaluate language models as world models on a public benchmark."""
