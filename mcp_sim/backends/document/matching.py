"""Which tools work on the parts of a document by their index, and what does each do?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.document.given import DOCUMENT
from mcp_sim.backends.document.operations import (
    MANY,
    WHOLE,
    index_argument,
    indexed_noun,
    is_document,
    noun_of,
    operation_of,
    roles_of,
)
from mcp_sim.backends.matching.operations import plan_of
from mcp_sim.backends.matching.tool_profiles import Purpose
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import items, main_type
from mcp_sim.types.lexicon.words import snake, vocabulary
from mcp_sim.types.plans import Plan

_MADE_AS = ("name", "id", "filename", "file_name", "file_path", "path", "title")


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
    indexed = {noun for purpose in listed if (noun := indexed_noun(purpose)) is not None}
    found = [one for purpose in listed if (one := _one(purpose, whole, indexed)) is not None]
    made = {one.noun for one in found if one.operation == "add"}
    by_index = {one.noun for one in found if one.operation in {"remove", "read_part", "change", "move", "mark"}}
    if not (made & (by_index | indexed) and by_index) and not _fills_documents(found):
        return []
    return [one for one in found if not one.noun or one.noun in made or one.operation == "put_in"]


def _fills_documents(found: Sequence[Found]) -> bool:
    """Are documents made here, and parts put in them one after the other, which are then counted or told?"""
    adding = [one for one in found if one.operation == "add" and "document" in one.arguments]
    done = {one.operation for one in found}
    return len(adding) > 1 and "make" in done and bool(done & {"count", "info", "whole", "outline", "text"})


def plan_for(one: Found) -> Plan:
    """The plan of a recognised tool."""
    verbs = {"make": "create", "copy": "create", "drop": "delete", "text": "get", "info": "get", "outline": "get",
             "whole": "get", "count": "get", "read_part": "get", "find": "get", "documents": "list",
             "cells": "get"}  # fmt: skip
    reasons = (f"{one.noun or 'document'} by {', '.join(one.arguments.values()) or 'name'}",)
    verb = verbs.get(one.operation, "update")
    made = plan_of(one.purpose, one.operation, "document", one.arguments, 0.8, reasons, verb=verb, entity=DOCUMENT)
    return replace(made, fixed={**one.fixed, "noun": one.noun})


def _document_argument(listed: Sequence[Purpose]) -> str | None:
    """What the document goes by in most tools; None where they name none."""
    for names in ([purpose.needed for purpose in listed], [purpose.arguments for purpose in listed]):
        counts = Counter(snake(name) for of_one in names for name in of_one if is_document(snake(name)))
        name, count = counts.most_common(1)[0] if counts else ("", 0)
        if count >= 3:
            return name
    return None


def _one(purpose: Purpose, whole: str | None, indexed: set[str]) -> Found | None:
    document = purpose.argument({whole}) if whole is not None else None
    if whole is not None and document is None and not set(purpose.words) & WHOLE:
        return None
    named, noun = set(purpose.words), noun_of(purpose)
    index = index_argument(purpose)
    operation, fixed = operation_of(purpose, named, noun, index, indexed)
    if operation is None:
        return None
    if operation == "make" and document is None:
        document = purpose.argument(_MADE_AS, ("string",))
    anchored = operation in {"add", "put_in"} and index is not None and indexed_noun(purpose) != noun
    roles = {"document": document, "anchor" if anchored else "index": index}
    roles |= roles_of(purpose, operation)
    arguments = {role: name for role, name in roles.items() if name is not None}
    stray = purpose.needed - set(arguments.values())
    if stray and operation not in {"add", "put_in", "change", "make", "describe"}:
        return None
    if operation == "add" and any(main_type(items(purpose.arguments[name])) == "object" for name in stray):
        return None
    return Found(purpose, operation, noun if operation not in _OF_WHOLE or named & MANY else "", arguments, fixed)


_OF_WHOLE = vocabulary("describe validate merge save open make copy drop text info outline documents find replace_text")
