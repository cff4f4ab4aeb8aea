"""Messages between users: match their tools, read a given state, send, show, and reply."""
