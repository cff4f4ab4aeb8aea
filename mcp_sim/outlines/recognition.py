"""Which tools work on the parts of a document by their index, and which documents does a given state hold?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.claiming.arguments import kinds_of
from mcp_sim.claiming.operations import plan_of
from mcp_sim.claiming.purposes import Purpose
from mcp_sim.domain import Entity, Field, Plan
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Json, Record
from mcp_sim.words import singular, snake, vocabulary

DOCUMENT = "document"
ONLY = "document"
"""The name of the one document of a server whose tools name none."""

_DOCUMENTS = vocabulary("filename file_name document document_id doc_id filepath file_path path presentation_id "
                        "presentation notebook notebook_path doc_path")  # fmt: skip
_INDEX = re.compile(r"(?:(?P<noun>.+)_)?(?:index|idx|position|number)|index|position")
_TEXTS = ("text", "content", "title", "task", "source", "body", "heading", "value", "new_text", "new_content")
_MAKES = vocabulary("add append insert new")
_TAKES = vocabulary("delete remove")
_READS = vocabulary("get read view show extract")
_EDITS = vocabulary("edit update set modify change replace format customize")
_WHOLE = vocabulary("document documents doc docs presentation presentations notebook notebooks file deck")
_PARTS = vocabulary("paragraph heading slide cell item block section line table picture image break page_break list "
                    "bullet footnote endnote step textbox shape chart row")  # fmt: skip

_MANY = vocabulary("paragraphs headings slides cells items steps bullets checklist blocks")
_NO_PLACES = vocabulary("layout placeholder style theme template master color colour font")
"""What an index counts that says nothing of the order of parts."""
_MADE_AS = ("name", "id", "filename", "file_name", "file_path", "path", "title")
_NO_PARTS: list[Json] = []


@dataclass(frozen=True, slots=True)
class Found:
    """A tool of ordered parts: what it does, the part that it speaks of, and the arguments that matter."""

    purpose: Purpose
    operation: str
    noun: str
    arguments: Mapping[str, str]
    fixed: Mapping[str, Json]


def recognised(listed: Sequence[Purpose]) -> list[Found]:
    """The tools of a server that work on ordered parts; none where the evidence of all of them is too little."""
    whole = _document_argument(listed)
    indexed = {noun for purpose in listed if (noun := _indexed_noun(purpose)) is not None}
    found = [one for purpose in listed if (one := _one(purpose, whole, indexed)) is not None]
    made = {one.noun for one in found if one.operation == "add"}
    by_index = {one.noun for one in found if one.operation in {"remove", "read_part", "change", "move", "mark"}}
    if not made & (by_index | indexed) or not by_index:
        return []
    return [one for one in found if not one.noun or one.noun in made]


def plan_for(one: Found) -> Plan:
    """The plan of a recognised tool."""
    verbs = {"make": "create", "copy": "create", "drop": "delete", "text": "get", "info": "get", "outline": "get",
             "read_part": "get", "find": "get", "documents": "list", "cells": "get"}  # fmt: skip
    reasons = (f"{one.noun or 'document'} by {', '.join(one.arguments.values()) or 'name'}",)
    verb = verbs.get(one.operation, "update")
    made = plan_of(one.purpose, one.operation, "outlines", one.arguments, 0.8, reasons, verb=verb, entity=DOCUMENT)
    return replace(made, fixed={**one.fixed, "noun": one.noun})


def entity() -> Entity:
    """A document: its name, what is said of it, and its parts in order."""
    parts: Record = {"type": ["array", "null"], "items": {"type": "object"}}
    fields = (Field("name", {"type": "string"}, required=True), Field("parts", parts))
    return Entity(DOCUMENT, "name", "report-001.docx", {field.name: field for field in fields}, natural=True)


def given_documents(state: Json) -> tuple[list[Record], Json]:
    """The documents of a given state: `{name: [part, ...]}` under a name of documents."""
    body = as_object(state)
    for name, part in body.items():
        if snake(name) in _WHOLE and as_object(part):
            rows = [document_of(doc, _given_parts(inner)) for doc, inner in as_object(part).items()]
            return rows, {other: value for other, value in body.items() if other != name}
    return [], state


def document_of(name: str, parts: Sequence[Record], **more: Json) -> Record:
    """A document as it is kept."""
    return {"name": name, **more, "parts": [*parts]}


def _given_parts(value: Json) -> list[Record]:
    inner = as_object(value)
    listed = (
        next((as_list(part) for part in inner.values() if isinstance(part, list)), _NO_PARTS)
        if inner
        else as_list(value)
    )
    return [as_object(one) if isinstance(one, dict) else {"kind": "paragraph", "text": str(one)} for one in listed]


def _document_argument(listed: Sequence[Purpose]) -> str | None:
    """What the document goes by in most tools; None where they name none."""
    for names in ([purpose.needed for purpose in listed], [purpose.arguments for purpose in listed]):
        counts = Counter(snake(name) for of_one in names for name in of_one if snake(name) in _DOCUMENTS)
        name, count = counts.most_common(1)[0] if counts else ("", 0)
        if count >= 3:
            return name
    return None


def _index_argument(purpose: Purpose) -> str | None:
    """The argument that says at which place: `index`, `paragraph_index`, `slide_number`."""
    numbers = (name for name, schema in purpose.arguments.items() if kinds_of(schema) & {"integer", "number"})
    return next((name for name in numbers if _is_index(snake(name))), None)


def _is_index(name: str) -> bool:
    hit = _INDEX.fullmatch(name)
    if hit is None or name.startswith(("from_", "to_")) or hit["noun"] in _NO_PLACES:
        return False
    return not hit["noun"] or hit["noun"] in _PARTS or name.endswith(("_index", "_idx"))


def _indexed_noun(purpose: Purpose) -> str | None:
    """The part that an argument counts: by its own name, else by the tool's."""
    name = _index_argument(purpose)
    if name is None:
        return None
    hit = _INDEX.fullmatch(snake(name))
    noun = hit["noun"] if hit is not None else None
    return noun if noun in _PARTS else _noun(purpose)


def _noun(purpose: Purpose) -> str:
    """The part that a tool's name speaks of."""
    listed = [singular(word) for word in purpose.words]
    return next((word for word in reversed(listed) if word in _PARTS), "")


def _one(purpose: Purpose, whole: str | None, indexed: set[str]) -> Found | None:
    document = purpose.argument({whole}) if whole is not None else None
    if whole is not None and document is None and not set(purpose.words) & _WHOLE:
        return None
    named, noun = set(purpose.words), _noun(purpose)
    index = _index_argument(purpose)
    operation, fixed = _operation(purpose, named, noun, index, indexed)
    if operation is None:
        return None
    if operation == "make" and document is None:
        document = purpose.argument(_MADE_AS, ("string",))
    anchored = operation == "add" and index is not None and _indexed_noun(purpose) != noun
    roles = {"document": document, "anchor" if anchored else "index": index}
    roles |= _roles(purpose, operation)
    arguments = {role: name for role, name in roles.items() if name is not None}
    stray = purpose.needed - set(arguments.values())
    if stray and operation not in {"add", "change", "make"}:
        return None
    return Found(purpose, operation, noun if operation not in _OF_WHOLE else "", arguments, fixed)


_OF_WHOLE = frozenset({"make", "copy", "drop", "text", "info", "outline", "documents", "find", "replace_text"})


def _roles(purpose: Purpose, operation: str) -> dict[str, str | None]:
    if operation == "move":
        return {
            "source": purpose.argument({"from_index", "source_index", "old_index", "from_position", "from"}),
            "target": purpose.argument({"to_index", "target_index", "new_index", "to_position", "to"}),
        }
    if operation == "copy":
        return {
            "document": next((name for name in purpose.arguments if "source" in snake(name)), None),
            "target": next(
                (name for name in purpose.arguments if snake(name).startswith(("dest", "target", "new"))), None
            ),
        }
    if operation in {"find", "replace_text"}:
        return {
            "query": purpose.argument(
                {"find_text", "text_to_find", "query", "search_text", "text", "find", "search", "old_text"}
            ),
            "replacement": purpose.argument({"replace_text", "replacement", "new_text", "replace", "replace_with"}),
        }
    return (
        {"text": next((name for name in purpose.arguments if snake(name) in _TEXTS), None)}
        if operation in {"add", "change"}
        else {}
    )


def _operation(  # noqa: C901, PLR0912 (one line for each thing that tools do)
    purpose: Purpose, named: set[str], noun: str, index: str | None, indexed: set[str]
) -> tuple[str | None, Mapping[str, Json]]:
    """What a tool does, by its words."""
    of_whole = bool(named & _WHOLE)
    if named & {"reorder", "move"} and purpose.argument({"from_index", "source_index", "from_position", "old_index"}):
        return "move", {}
    if named & {"done", "undone", "complete", "completed"} and index is not None:
        return "mark", {"done": "undone" not in named}
    if "replace" in named and named & {"search", "find", "text"} and index is None:
        return "replace_text", {}
    if named & {"find", "search"} and index is None and of_whole:
        return "find", {}
    if named & _MAKES and noun and (noun in indexed or noun in _PARTS):
        return "add", {}
    if index is not None and noun:
        for words, operation in ((_TAKES, "remove"), (_READS, "read_part"), (_EDITS, "change")):
            if named & words:
                return operation, {}
    if "create" in named and of_whole and not noun:
        return "make", {}
    if named & {"copy", "duplicate"} and of_whole:
        return "copy", {}
    if named & _TAKES and of_whole and not noun and index is None:
        return "drop", {}
    if "list" in named and named & {"documents", "docs", "presentations", "notebooks"}:
        return "documents", {}
    if named & {*_READS, "list"} and index is None and not purpose.needed and named & _MANY:
        return "outline", {}
    if named & _READS and of_whole and index is None:
        if named & {"text", "content"}:
            return "text", {}
        if named & {"outline", "structure"}:
            return "outline", {}
        if named & {"info", "properties", "metadata"}:
            return "info", {}
    return None, {}
