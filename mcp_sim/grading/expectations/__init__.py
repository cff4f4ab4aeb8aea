"""Expectations: what the agent should have done or left behind; one kind per file."""
