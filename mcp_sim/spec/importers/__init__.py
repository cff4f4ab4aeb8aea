"""What tools are there elsewhere? One kind per file, found by its name."""
