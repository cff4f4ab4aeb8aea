"""Stores: what keeps worlds between processes; one per file."""
