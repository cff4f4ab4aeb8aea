"""Pages to be searched and read: which tools look for them, what a state holds of them, and what is made up."""
