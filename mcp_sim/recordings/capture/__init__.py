"""Record sessions with real servers: at their streams or over HTTP, from saved traffic, without secrets and people."""
