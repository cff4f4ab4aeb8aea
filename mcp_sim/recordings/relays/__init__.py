"""Pass bytes between a client and a real server, and hand copies to a recorder, which may be slower than both."""
