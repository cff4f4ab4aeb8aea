"""Words in names: splitting, singular and plural, and words of other languages."""
