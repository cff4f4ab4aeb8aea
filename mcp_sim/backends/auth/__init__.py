"""Logins: which tools log somebody in, whether somebody is, and what is refused to those who are not."""
