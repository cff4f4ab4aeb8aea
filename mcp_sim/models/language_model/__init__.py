"""Talking to a language model that plays the world: what it is told, what it is asked for, how its answers are read."""
