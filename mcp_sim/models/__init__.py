"""World models: the built-in one, language models, generated worlds, and evaluation."""
