"""Lists of notes that nobody numbers: which tools add to one, tick off, read or clear it, and how do they answer?"""
