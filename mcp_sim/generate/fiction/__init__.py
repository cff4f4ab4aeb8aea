"""Fictional worlds: linked rows with invented names, the pages that show them, and questions with known answers.

A theme is a document (`themes/NAME.yaml`): tables with a rule for each field, page templates, what only pages may show,
and questions. The result is the state of a world for the service `search_world`. May import `spec` and `types`.
"""

from mcp_sim.generate.fiction.questions import Question, Table, fiction_scenario, questions, tables
from mcp_sim.generate.fiction.rows import LEAST_ROWS, MOST_ROWS, Fiction, invent
from mcp_sim.generate.fiction.theme import Theme, read_theme, shipped_themes

__all__ = [
    "LEAST_ROWS",
    "MOST_ROWS",
    "Fiction",
    "Question",
    "Table",
    "Theme",
    "fiction_scenario",
    "invent",
    "questions",
    "read_theme",
    "shipped_themes",
    "tables",
]
