"""Logins: sessions, credentials, and the tools that require a login."""
