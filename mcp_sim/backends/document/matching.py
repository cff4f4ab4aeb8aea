"""Match tools to operations on parts of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.document.given import DOCUMENT
from mcp_sim.backends.document.operations import (
    DOCUMENT_WORDS,
    MANY,
    assign_roles,
    choose_operation,
    index_argument,
    indexed_noun,
    is_document,
    noun_of,
)
from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import items, main_type
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_MADE_AS = ("name", "id", "filename", "file_name", "file_path", "path", "title")


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool for ordered parts: its operation, the kind of part, and role -> argument."""

    profile: ToolProfile
    operation: str
    noun: str
    arguments: Mapping[str, str]
    fixed: Mapping[str, Json]


def match_tools(listed: Sequence[ToolProfile]) -> list[MatchedTool]:
    """Return the tools of a server that work on ordered parts; none if the evidence is too weak."""
    whole = _document_argument(listed)
    indexed = {noun for profile in listed if (noun := indexed_noun(profile)) is not None}
    found = [one for profile in listed if (one := _match_one(profile, whole, indexed)) is not None]
    made = {one.noun for one in found if one.operation == "add"}
    by_index = {one.noun for one in found if one.operation in {"remove", "read_part", "change", "move", "mark"}}
    if not (made & (by_index | indexed) and by_index) and not _fills_documents(found):
        return []
    return [one for one in found if not one.noun or one.noun in made or one.operation == "put_in"]


def _fills_documents(found: Sequence[MatchedTool]) -> bool:
    """Return whether documents are created and parts added, which are then counted or shown."""
    adding = [one for one in found if one.operation == "add" and "document" in one.arguments]
    done = {one.operation for one in found}
    return len(adding) > 1 and "make" in done and bool(done & {"count", "info", "whole", "outline", "text"})


def plan_for(one: MatchedTool) -> Plan:
    """Return the plan of a matched tool."""
    verbs = {"make": "create", "copy": "create", "drop": "delete", "text": "get", "info": "get", "outline": "get",
             "whole": "get", "count": "get", "read_part": "get", "find": "get", "documents": "list",
             "cells": "get"}  # fmt: skip
    reasons = (f"{one.noun or 'document'} by {', '.join(one.arguments.values()) or 'name'}",)
    verb = verbs.get(one.operation, "update")
    made = operation_plan(
        one.profile, one.operation, "document", one.arguments, 0.8, reasons, verb=verb, entity=DOCUMENT
    )
    return replace(made, fixed={**one.fixed, "noun": one.noun})


def _document_argument(listed: Sequence[ToolProfile]) -> str | None:
    """Return the argument that names the document in most tools; None if there is none."""
    for names in ([profile.needed for profile in listed], [profile.arguments for profile in listed]):
        counts = Counter(snake(name) for of_one in names for name in of_one if is_document(snake(name)))
        name, count = counts.most_common(1)[0] if counts else ("", 0)
        if count >= 3:
            return name
    return None


def _match_one(profile: ToolProfile, whole: str | None, indexed: set[str]) -> MatchedTool | None:
    document = profile.argument({whole}) if whole is not None else None
    if whole is not None and document is None and not set(profile.words) & DOCUMENT_WORDS:
        return None
    named, noun = set(profile.words), noun_of(profile)
    index = index_argument(profile)
    operation, fixed = choose_operation(profile, named, noun, index, indexed)
    if operation is None:
        return None
    if operation == "make" and document is None:
        document = profile.argument(_MADE_AS, ("string",))
    anchored = operation in {"add", "put_in"} and index is not None and indexed_noun(profile) != noun
    roles = {"document": document, "anchor" if anchored else "index": index}
    roles |= assign_roles(profile, operation)
    arguments = {role: name for role, name in roles.items() if name is not None}
    stray = profile.needed - set(arguments.values())
    if stray and operation not in {"add", "put_in", "change", "make", "describe"}:
        return None
    if operation == "add" and any(main_type(items(profile.arguments[name])) == "object" for name in stray):
        return None
    return MatchedTool(
        profile, operation, noun if operation not in _WHOLE_DOCUMENT or named & MANY else "", arguments, fixed
    )


_WHOLE_DOCUMENT = vocabulary(
    "describe validate merge save open make copy drop text info outline documents find replace_text"
)
