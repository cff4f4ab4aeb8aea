"""Values under keys: which tools keep them, what a state holds of them, and what is done to them."""
