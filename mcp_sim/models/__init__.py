"""World models: the built-in one, language models, generated worlds, and evaluation.

Imports `backends` and every package below it. Only this package imports the openai package.
"""
