"""Model-generated worlds: records invented by a language model and checked against schemas and links."""
