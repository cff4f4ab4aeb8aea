"""The documents of a given state."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mcp_sim.plans.document.tools import PARTS
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of, unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import last_word, singular
from mcp_sim.types.lexicon.terms import ordered, terms

DEFAULT_NAME = "document"
"""Name of the only document if no tool names one."""

_NAMES = terms("documents.documents")
_KEYS = ordered("documents.keys")
"""Names of the field that holds the name of a document."""
_HELD = PARTS | terms("documents.held")
"""Names, in the singular, of the field that holds the parts or the text of a document."""
_TEXTS = ordered("documents.texts")
"""Names of the field that holds the text of a part, if it has neither a text nor a title."""
_DEPTH = 4
"""How many levels of wrappers are searched. Deeper objects are contents of a record."""


def given_documents(
    state: Json, kinds: Collection[str], *, is_named: bool, is_whole: bool
) -> tuple[Sequence[Record], Json]:
    """Return the documents of a state, and the rest of it.

    Documents are objects or texts by name, lists of parts by name, or lists of objects with a name. If tools name no
    document (`is_named`), the only one may be a list of parts of one of `kinds`. `is_whole`: nothing else may be meant.
    """
    rows, rest = _taken(state, _NAMES, "name")
    only_kind = "" if is_named else next(iter(kinds), "")
    documents = [_document(row, only_kind) for row in rows]
    if is_named:
        whole = _whole(state) if is_whole and not documents else []
        return (whole, None) if whole else (documents, rest)
    alone = _the_only_one(state, kinds)
    if alone is None and len(documents) == 1:
        return [{**documents[0], "name": DEFAULT_NAME}], rest
    return alone or ([], state)


def _the_only_one(state: Json, kinds: Collection[str]) -> tuple[Sequence[Record], Json] | None:
    """Return the document that a list of parts is, with what the state has of it beside the list; None without one."""
    rows, rest = _taken(state, {*kinds, "checklist"}, "title")
    if not rows:
        return None
    beside = as_object(rest)
    place = next((name for name, value in beside.items() if name in _NAMES and isinstance(value, dict)), "")
    facts = as_object(beside.get(place))  # `notebook: {kernel: ...}` beside `cells: [...]`
    titled = {"title": facts["name"]} if "name" in facts and "title" not in facts else {}
    parts = [_part(next(iter(kinds), ""), row) for row in rows]
    left = {name: value for name, value in beside.items() if name != place} if place else rest
    return [{**facts, **titled, "name": DEFAULT_NAME, "parts": parts}], left


def _taken(value: Json, names: Collection[str], key: str, depth: int = _DEPTH) -> tuple[list[Record], Json]:
    """Return the rows under any of these names, below wrappers too, and the rest; None if nothing is left."""
    taken: list[Record] = []
    left: Record = {}
    for name, inner in as_object(value).items():
        rest: Json = inner
        rows = rows_of(inner, key, "text") if singular(last_word(name)) in names else None
        if rows is not None and key == "name" and _is_document(name, inner):
            taken, rest = [*taken, as_object(inner)], None
        elif rows is not None:
            taken, rest = [*taken, *rows], unwrap_rows(inner)[1] or None
        elif depth and isinstance(inner, dict):
            more, rest = _taken(inner, names, key, depth - 1)
            taken += more
        left |= {name: rest} if rest is not None or inner is None else {}
    return taken, (left or None) if taken else value


def _is_document(name: str, value: Json) -> bool:
    """Return whether an object under a name in the singular has a list of parts: `notebook: {cells: [...]}`."""
    row = as_object(value)
    return last_word(name) == singular(last_word(name)) and isinstance(row.get(_held(row)), list)


def _whole(state: Json) -> list[Record]:
    """Return the documents of a state that holds nothing else, possibly inside wrappers."""
    for _ in range(_DEPTH):
        rows = rows_of(state, "name", "text") or []
        if rows and all(_held(row) and _name(row) is not None for row in rows):
            return [_document(row) for row in rows]
        inner = [*as_object(state).values()]
        if len(inner) != 1:
            return []
        state = inner[0]
    return []


def _name(row: Record) -> str | None:
    return next((str(row[key]) for key in _KEYS if isinstance(row.get(key), str | int)), None)


def _held(row: Record) -> str:
    """Return the field with the parts or the text of a document, or ''."""
    return next((key for key in row if singular(last_word(key)) in _HELD and isinstance(row[key], list | str)), "")


def _document(row: Record, kind: str = "") -> Record:
    """Return an object as a document. Its parts are of a kind, unless the name of their list says another one."""
    held = _held(row)
    fields = {key: value for key, value in row.items() if key != held}
    return {**fields, "name": _name(row) or DEFAULT_NAME, "parts": _parts(held, row.get(held), kind)}


def _parts(held: str, value: Json, kind: str) -> list[Record]:
    """Return the parts that a list or a text holds."""
    if isinstance(value, str):
        return [{"kind": kind or "paragraph", "text": line} for line in value.splitlines() if line.strip()]
    named = singular(last_word(held)) if held else ""
    return [_part(named if named in PARTS else kind, item) for item in as_list(value)]


def _part(kind: str, value: Json) -> Record:
    """Return a text or an object as a part of a kind."""
    if not isinstance(value, dict):
        return {"kind": kind or "paragraph", "text": str(value)}
    fields = as_object(value)
    name = next((name for name in _TEXTS if name in fields and not {"text", "title"} & fields.keys()), "")
    content = fields.get(name)
    text = "".join(map(str, as_list(content))) if isinstance(content, list) else content
    rest = {key: inner for key, inner in fields.items() if key != name}
    return {**({"kind": kind} if kind else {}), **rest, **({"text": text} if name else {})}
