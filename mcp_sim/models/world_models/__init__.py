"""World models: who predicts what a call does; one kind per file."""
