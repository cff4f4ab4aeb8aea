"""Messages between users without message ids: match their tools, read a given state, send and show."""
