"""Infer what the result of a tool holds that declares none: a promise of its name and description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.plans.acknowledgements import verb_place
from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import INSPECTION_VERBS, classify_verb, find_described_verb
from mcp_sim.types import Record, Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import is_plural, plural, singular, words
from mcp_sim.types.record_kinds.usual_fields import (
    acts,
    described_fields,
    field_schema,
    kind_fields,
    kind_of_result,
    schemas_of,
    verb_fields,
)

_READS = frozenset({"get", "list", "search"})
_WRITES = frozenset({"create", "update", "delete"})
_RETURNS = re.compile(r"\breturn(?:s|ing)?\b", re.IGNORECASE)
_LONGEST = 3
"""The most words of the name of a field."""


@frozen
class Promise:
    """What a result holds: fields with their schemas; `rows` is the field with a list of objects with these fields.

    `of_each`: the fields describe a thing that is looked up, so that a call with several things gets them of each.
    """

    fields: Record
    rows: str | None = None
    of_each: bool = False


def promise_of(tool: Tool) -> Promise | None:
    """Return what the result of a tool holds; None if the tool acts on something and promises no data."""
    parts = words(last_segment(tool.name))
    verb, nouns = _verb_and_nouns(parts, tool.description)
    described_verb = find_described_verb(tool.description)
    returned = described_fields(tool.description) if _RETURNS.search(tool.description) else ()
    if _is_action(verb or described_verb):
        return Promise(schemas_of(returned)) if returned else None
    listed = described_fields(tool.description)
    if listed:
        return Promise(schemas_of(listed))
    kind = kind_of_result(nouns or parts, tool.description)
    usual = verb_fields(verb) or (() if kind else verb_fields(described_verb))
    if usual:
        return _computed(usual, nouns)
    return _looked_up(verb or described_verb, nouns or parts, kind)


def _verb_and_nouns(parts: Sequence[str], description: str) -> tuple[str, tuple[str, ...]]:
    """Return the verb of a name, or '', and its other words."""
    if not parts:
        return "", ()
    place = 0 if verb_fields(parts[0]) else verb_place(tuple(parts), find_described_verb(description))
    if place is None:
        return "", tuple(parts)
    return parts[place], (*parts[place + 1 :],) or (*parts[:place],)


def _is_action(verb: str) -> bool:
    return not verb_fields(verb) and (verb in acts() or classify_verb(verb) in _WRITES)


def _computed(usual: Sequence[str], nouns: Sequence[str]) -> Promise:
    """Return the promise of a verb that computes something. Its result is named after the noun."""
    kind = schemas_of(kind_fields(nouns))
    match usual:
        case ("results",):
            return _rows(nouns, (*kind,) or ("title", "url", "snippet"))
        case ("label" | "artifact", *others) if nouns:
            return Promise(kind or schemas_of(("_".join(nouns[-_LONGEST:]), *others)))
        case ("valid", *_) if kind:
            return Promise(kind)
        case ("result",):
            return Promise(kind, of_each=True) if _is_computable(kind) else Promise(_named_result(nouns))
        case _:
            return Promise(schemas_of(usual))


def _is_computable(fields: Record) -> bool:
    """Return whether the first field holds a number or a list of numbers."""
    return bool(fields) and main_type(next(iter(fields.values()))) in {"number", "integer", "array"}


def _named_result(nouns: Sequence[str]) -> Record:
    name = "_".join(nouns) if 0 < len(nouns) <= _LONGEST and not is_plural(nouns[-1]) else "result"
    schema = field_schema(name)
    if schema == {"type": "string"}:
        return {name: {"type": "number"}}
    return {name: schema} if _is_computable({name: schema}) else {"result": {"type": "number"}}


def _looked_up(verb: str, nouns: Sequence[str], usual: Sequence[str]) -> Promise | None:
    """Return the promise of a tool that looks something up, or of a name without a verb."""
    is_read = classify_verb(verb) in _READS or verb in INSPECTION_VERBS or verb_fields(verb)
    if not usual and not is_read:
        return None
    if nouns and (is_plural(nouns[-1]) or classify_verb(verb) in {"list", "search"}):
        return _rows(nouns, usual or ("name", "description"))
    name = "_".join(nouns[-_LONGEST:]) or "result"
    return Promise(schemas_of(usual or (name,)), of_each=bool(usual))


def _rows(nouns: Sequence[str], fields: Sequence[str]) -> Promise:
    name = plural(singular("_".join(nouns[-_LONGEST:]))) if nouns else "results"
    return Promise(schemas_of(fields), name)
