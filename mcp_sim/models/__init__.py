"""World models: the built-in one, language models, generated worlds, and evaluation.

May import `programs` and everything below it. Only this package imports the openai package.
"""
