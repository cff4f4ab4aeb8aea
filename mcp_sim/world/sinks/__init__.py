"""Sinks: where the entries of a ledger are written; one per file."""
