"""Sinks: who receives the ledger as it is written; one per file."""
