"""Real MCP servers as world models: connections to them, and their answers with the world's writes laid over."""
