"""Documents: YAML and JSON files read into typed parts, with every problem at its file, line and path.

Imports `types` only.
"""
