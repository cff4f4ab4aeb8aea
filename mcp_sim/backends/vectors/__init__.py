"""Collections of texts with metadata, searched by similarity."""
