"""Runs of agents in worlds of their own, their verdicts, statistics and reports.

Imports every lower package, but not `cli`.
"""
