"""A first scenario for tools that are not simulated yet: a task, faults, expectations, and a test.

Imports what `runs` may import.
"""
