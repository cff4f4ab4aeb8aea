"""Tables as SQL sees them: which tools speak it, what a state holds, a database over a view, and what is refused."""
