"""Grading: expectations and their verdicts.

Imports `mcp_sim.types`, and `mcp_sim.world.cel` for expressions.
"""
