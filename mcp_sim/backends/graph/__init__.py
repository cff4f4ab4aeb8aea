"""Nodes and edges as tools see them: which tools work on a graph, what they are called there, what a state holds."""
