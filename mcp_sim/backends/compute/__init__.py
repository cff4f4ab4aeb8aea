"""What can be worked out from arguments alone: numbers, units, expressions, dates, texts."""
