"""Nodes and edges: match the tools of a graph, read a given state, and operate on the graph."""
