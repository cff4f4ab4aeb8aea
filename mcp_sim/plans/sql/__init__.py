"""SQL over the world: matching tools, given tables, a database over a view, dialects, and a sandbox."""
