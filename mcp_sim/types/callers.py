"""Tokens by which given accounts call tools: tools are planned and answered as if they took the name of the account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.json_values import Json, Record
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.tools import Tool

_TOKENS, _NAMES = terms("arguments.credential"), ordered("arguments.handle")
_SECRETS = terms("fields.secret")
_FEWEST = 2
"""The fewest tools that take the token: a single one may issue or check it."""
_MOST_ROWS, _DEPTH = 2_000, 4


@frozen
class Caller:
    """An argument that holds a token of a given account, and the field with the account's name."""

    argument: str
    name: str

    def planned(self, tool: Tool) -> Tool | None:
        """Return the tool as if it took the name of the account; None if it takes no token, or names an account."""
        schema = tool.input_schema
        parts = properties(schema)
        is_about_token = singular(words(tool.name)[-1]) in {*words(self.argument)}  # `check_token(token)`
        if self.argument not in parts or self.name in parts or is_about_token:
            return None
        named: Record = {"type": "string", "description": "Who calls."}
        taken = {name if name != self.argument else self.name: named if name == self.argument else part
                 for name, part in parts.items()}  # fmt: skip
        needed = [name if name != self.argument else self.name for name in as_list(schema.get("required"))]
        inner = {**schema, "properties": taken, "required": needed}
        return replace(tool, definition={**tool.definition, "inputSchema": inner})


def find_caller(tools: Collection[Tool], state: Json) -> Caller | None:
    """Return the token that several tools take and that given accounts have, or None."""
    counts = Counter(name for tool in tools for name in properties(tool.input_schema) if _is_token(name))
    for argument, count in counts.most_common():
        if count < _FEWEST:
            break
        tables = [table for table in _tables(state) if any(argument in row for row in table.values())]
        name = _name_of(tables[0], state, tools) if len(tables) == 1 else None
        if name is not None:
            return Caller(argument, name)
    return None


def _is_token(name: str) -> bool:
    return snake(name) in _TOKENS or last_word(name) == "token"


def _tables(value: Json, depth: int = _DEPTH) -> Iterator[Mapping[str, Record]]:
    """Yield the tables of objects in a state, by their keys, or by their places in lists."""
    rows = as_object(value) if isinstance(value, dict) else {str(at): row for at, row in enumerate(as_list(value))}
    table = {key: as_object(row) for key, row in [*rows.items()][:_MOST_ROWS]}
    if table and all(table.values()):
        yield table
    for inner in [*rows.values()][:_MOST_ROWS] if depth else ():
        if isinstance(inner, dict | list):
            yield from _tables(inner, depth - 1)


def _name_of(accounts: Mapping[str, Record], state: Json, tools: Collection[Tool]) -> str | None:
    """Return the field with the names of accounts.

    It repeats their keys, or other rows or tools name accounts by it. Those with secrets have user names.
    """
    keys = {*accounts}
    fields = {name for row in accounts.values() for name in row}
    repeated = (name for name in fields if all(str(row.get(name)) == key for key, row in accounts.items()))
    if (name := min(repeated, default=None)) is not None:
        return name
    if all(key.isdigit() for key in keys):
        return next((name for name in _NAMES if name in fields and _identifies(name, accounts)), None)
    referring: dict[str, set[str]] = {}
    for table in _tables(state):
        for row in table.values() if {*table} != keys else ():
            for name, value in row.items():
                if isinstance(value, str) and name not in fields:
                    referring.setdefault(name, set()).add(value)
    linked = [name for name, values in referring.items() if values <= keys]
    taken = [name for tool in tools for name in properties(tool.input_schema) if snake(name) in _NAMES]
    taken += _NAMES if any(last_word(name) in _SECRETS for name in fields) else ()
    return min(linked, default=None) or next((name for name in taken if name not in fields), None)


def _identifies(name: str, rows: Mapping[str, Record]) -> bool:
    """Whether no two rows have the same value: a user may have several devices, and a session each."""
    values = [str(row.get(name)) for row in rows.values()]
    return len({*values}) == len(values)
