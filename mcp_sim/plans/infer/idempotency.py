"""Idempotency keys: the argument by which a server recognises a call that a client repeats."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping

from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.lexicon.terms import groups
from mcp_sim.types.plans import Basis, Idempotency, Plan

_NAMES = groups("arguments.idempotency")
_PHRASES = re.compile("|".join(rf"\b{phrase.replace('_', ' ')}" for phrase in _NAMES["described"]))
_READS = frozenset({"get", "list", "search", "compute"})
_BY_NAME = Basis("inferred", 0.9, ("its name is that of an idempotency key",))
_BY_DESCRIPTION = Basis("inferred", 0.9, ("its description is that of an idempotency key",))
_BY_UNSURE_NAME = Basis("inferred", 0.7, ("its name is often that of an idempotency key, and it may be left out",))


def find_idempotency(tool: Tool, plan: Plan, nouns: Container[str]) -> tuple[Idempotency, Basis] | None:
    """Return the idempotency key of a tool that writes, and why; None if it takes none.

    `nouns` are the words in the names of all tools and entities: where there are requests, a `request_id` names one.
    """
    if tool.annotations.get("readOnlyHint") is True or all(variant.verb in _READS for variant in plan.variants):
        return None
    schema = expanded(tool.input_schema)
    taken = set[str | None]()
    for variant in (plan, *plan.variants):
        taken |= {variant.key, variant.holder, variant.query, variant.each, variant.choice, variant.copies}
        taken |= {*variant.filters}
    tokens = {name: token for name, token in properties(schema).items()
              if name not in taken and main_type(token) in {"string", ""} and not constants(token)}  # fmt: skip
    bases = {name: _basis(name, value, nouns, required(schema)) for name, value in tokens.items()}
    known = [(Idempotency(name), basis) for name, basis in bases.items() if basis is not None]
    return max(known, key=lambda candidate: candidate[1].confidence, default=None)


def nouns_of(tools: Mapping[str, Tool], entities: Collection[str]) -> frozenset[str]:
    """Return the words in the names of tools and entities, in the singular."""
    names = (*(tool.name for tool in tools.values()), *entities)
    return frozenset(singular(word) for name in names for word in re.split(r"[._]", snake(name)))


def _basis(name: str, schema: Record, nouns: Container[str], needed: Container[str]) -> Basis | None:
    words = snake(name)
    if words in _NAMES["sure"]:
        return _BY_NAME
    described = re.sub(r"\W+", " ", str(schema.get("description") or "").lower())
    if _PHRASES.search(described):
        return _BY_DESCRIPTION
    is_likely = words in _NAMES["unsure"] and name not in needed and words.split("_")[0] not in nouns
    return _BY_UNSURE_NAME if is_likely else None
