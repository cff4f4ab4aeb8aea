"""The simulator: compile documents, open worlds, answer calls, save worlds, explain faults.

Imports every package except `server` and `cli`.
"""
