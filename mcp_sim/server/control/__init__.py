"""The control plane: what operators, tests and trainers do to the worlds of a server, in process and over HTTP.

Imports `simulator` and every package below it. Agents never reach it: it has a listener and a token of its own.
"""
