"""What do the importers share? Reading foreign documents, filling in placeholders, keeping secrets, naming things."""
