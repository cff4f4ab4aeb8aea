"""The world of one agent: state, clock, history, agenda, ledger, and what a call leaves behind.

Imports `mcp_sim.types` only.
"""
