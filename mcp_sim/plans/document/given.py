"""The documents of a given state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from mcp_sim.plans.document.request import DEFAULT_NAME
from mcp_sim.plans.given import Given, Sought, take_given, take_matching, wrapped
from mcp_sim.plans.operation import read_names
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import decode_strict
from mcp_sim.types.lexicon.english import last_word, singular

_WORDS = read_names(__name__)
DOCUMENT = "document"
KINDS = _WORDS.ordered("part")
PARTS = frozenset(KINDS)
"""Kinds of parts."""

_NAMES = frozenset({"document", "doc", "presentation", "notebook", "deck"})
_KEYS = _WORDS.ordered("key")
"""Names of the field that holds the name of a document."""
_HELD = PARTS | _WORDS.terms("held")
"""Names, in the singular, of the field that holds the parts or the text of a document."""
_TEXTS = ("content", "source", "body", "task", "value")
"""Names of the field that holds the text of a part, if it has neither a text nor a title."""


def given_documents(state: Json, kinds: Collection[str], *, is_named: bool, is_whole: bool) -> Given:
    """Return the documents of a state, and the rest of it.

    Documents are objects or texts by name, lists of parts by name, or lists of objects with a name. Notebooks are also
    found among files. If tools name no document (`is_named`), the only one may be a list of parts of one of `kinds`.
    """
    given = take_given(state, [Sought(DOCUMENT, "name", _NAMES, "text", _document)])
    rows = given.records[DOCUMENT]
    if not is_named:
        return _the_only_one(state, given, kinds)
    if not rows and is_whole:
        rows, given = _whole(state), Given(rest=None)
    return Given({DOCUMENT: rows}, given.rest) if rows else take_matching(state, [DOCUMENT], _notebook)


def _the_only_one(state: Json, given: Given, kinds: Collection[str]) -> Given:
    """Return the single document of a state under the default name."""
    given = given if given.records[DOCUMENT] else take_matching(state, [DOCUMENT], _notebook)
    rows = given.records[DOCUMENT]
    if len(rows) == 1:
        return Given({DOCUMENT: [{**rows[0], "name": DEFAULT_NAME}]}, given.rest)
    names = frozenset({*kinds, "checklist"})
    given = take_given(state, [Sought("part", "title", names, "text", partial(_part, next(iter(kinds), "")))])
    parts, rest = given.records["part"], as_object(given.rest)
    facts = next((name for name, value in rest.items() if name in _NAMES and isinstance(value, dict)), "")
    known = as_object(rest.get(facts))  # `notebook: {kernel: ...}` beside `cells: [...]`
    titled = {"title": known["name"]} if "name" in known and "title" not in known else {}
    document = {**known, **titled, "name": DEFAULT_NAME, "parts": parts}
    left = {name: value for name, value in rest.items() if name != facts}
    return Given({DOCUMENT: [document] if parts else []}, left if parts and facts else given.rest)


def _whole(state: Json) -> Sequence[Record]:
    """Return the documents of a state that holds nothing else, possibly inside wrappers."""
    for inner in wrapped(state):
        rows = [_document(row, is_sure=False) for row in rows_of(inner, "name", "text") or ()]
        if rows and None not in rows:
            return [row for row in rows if row is not None]
    return ()


def _document(row: Record, *, is_sure: bool = True) -> Record | None:
    """Return an object as a document; None if it cannot be one. Unless `is_sure`, it must have parts or a text."""
    name = next((str(row[key]) for key in _KEYS if isinstance(row.get(key), str | int)), None)
    held = next((key for key in row if singular(last_word(key)) in _HELD and isinstance(row[key], list | str)), "")
    if name is None or not (held or is_sure):
        return None
    parts = _parts(name, held, row.get(held))
    fields = {key: value for key, value in row.items() if key != held}
    return None if parts is None else {**fields, "name": name, "parts": parts}


def _parts(name: str, held: str, value: Json) -> list[Record] | None:
    """Return the parts that a list or a text holds; None if it is the broken text of a notebook."""
    if isinstance(value, str):
        if name.endswith(".ipynb"):
            return _cells(value)
        return [{"kind": "paragraph", "text": line} for line in value.splitlines() if line.strip()]
    kind = singular(last_word(held))
    return [_part(kind if kind in PARTS else "", item) for item in as_list(value)]


def _part(kind: str, value: Json) -> Record:
    """Return a text or an object as a part of a kind."""
    if not isinstance(value, dict):
        return {"kind": kind or "paragraph", "text": str(value)}
    held = as_object(value)
    text = next((name for name in _TEXTS if name in held and not {"text", "title"} & held.keys()), "")
    lines = held.get(text)
    joined = "".join(map(str, as_list(lines))) if isinstance(lines, list) else lines
    fields = {name: inner for name, inner in held.items() if name != text}
    return {**({"kind": kind} if kind else {}), **fields, **({"text": joined} if text else {})}


def _notebook(path: str, value: Json) -> Given | None:
    cells = _cells(value) if isinstance(value, str) and path.endswith(".ipynb") else None
    return None if cells is None else Given({DOCUMENT: [{"name": path, "parts": cells}]})


def _cells(text: str) -> list[Record] | None:
    """Return the cells of a notebook's text; None if it is not a notebook."""
    try:
        cells: Json = as_object(decode_strict(text)).get("cells")
    except ValueError:
        return None
    if not isinstance(cells, list):
        return None
    kept = ("cell_type", "execution_count", "source")
    return [_part("cell", {name: as_object(cell)[name] for name in kept if name in cell}) for cell in as_list(cells)]
