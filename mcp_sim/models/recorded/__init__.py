"""Recorded sessions as a world model: which recorded call a call is, and what its answer becomes in this run."""
