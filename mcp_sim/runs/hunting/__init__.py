"""Search for faults that make an agent fail, shrink them, and write them as scenarios."""
