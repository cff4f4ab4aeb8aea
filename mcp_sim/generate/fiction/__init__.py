"""Fictional worlds: linked rows with invented names, the pages that show them, and questions with known answers.

A theme is a document (`themes/NAME.yaml`): tables with a rule for each field, page templates, what only pages may show,
and questions. The result is the state of a world for the service `search_world`. May import `spec` and `types`.
"""
