"""The simulator: compile documents, open worlds, answer calls, keep worlds, explain faults."""
