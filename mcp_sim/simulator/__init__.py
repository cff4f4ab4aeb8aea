"""The simulator: compile documents, open worlds, answer calls, save worlds, explain faults.

May import `grading` and everything below it.
"""
