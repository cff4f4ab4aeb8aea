"""OAuth 2.1 on the listener of the agents: an authorization server of its own, and the check of its tokens."""
