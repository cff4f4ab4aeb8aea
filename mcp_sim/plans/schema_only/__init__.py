"""Answer tools by the schema of their results alone."""
