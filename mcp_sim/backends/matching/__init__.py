"""How is a tool recognised as one of a known sort, and how is a value told in its own form?"""
