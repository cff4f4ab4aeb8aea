"""MCP servers that present a world as a real backend, over stdio and streamable HTTP.

Imports the MCP SDK and every lower package.
"""
