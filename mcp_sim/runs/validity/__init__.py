"""Whether agents rank on a simulation as they do on a real server: the same agents, task and faults on both."""
