"""Backends: ways for tools to work on the world; one per file."""
