"""Documents whose parts stand in an order and go by their index: which tools work on them, and how do they answer?"""
