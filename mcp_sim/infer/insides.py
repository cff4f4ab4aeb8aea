"""Which ids must be among those that another record has: the payment method among those of the customer who orders?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import line_parts, main_type, properties
from mcp_sim.types.lexicon.words import singular_phrase, snake, words
from mcp_sim.types.plans import Among, Plan

_KINDS = ("", "_method", "_account", "_card", "_option")
"""What is called `payment_id` may be a `payment_method`."""


def with_insides(draft: Draft) -> dict[str, Plan]:
    """The plans of writes that say such an id."""
    holders = draft.tables()
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        writes = plan.verb in {"create", "update"} and plan.backend == "records" and plan.each is None
        mine = draft.entity_of(plan) if writes else None
        if mine is not None and mine.name in draft.held and mine.inside is None:
            among = tuple(_among(look, plan, mine, holders, draft.held))
            found |= {look.tool.id: replace(plan, among=among)} if among else {}
    return found


def _among(look: Look, plan: Plan, mine: Entity, holders: Sequence[Entity], tables: Collection[str]) -> Iterator[Among]:
    for path, name in _ids_asked_for(look):
        stem = snake(name).removesuffix("_id")
        if stem in tables or path == plan.key:
            continue
        for one in holders:
            field = next((field for field in one.fields if _is_of(field, stem) and _holds_parts(one, field)), None)
            by = None if field is None else _named_by(look, plan, mine, one)
            if field is not None and by is not None:
                yield Among(path, one.name, by, field)
                break


def _ids_asked_for(look: Look) -> Iterator[tuple[str, str]]:
    """The ids that are asked for, by path: also in the lines of a list."""
    for name, part in properties(look.input).items():
        if snake(name).endswith("_id") and main_type(part) in {"string", ""}:
            yield name, name
        for inner in line_parts(part):
            if snake(inner).endswith("_id"):
                yield f"{name}.*.{inner}", inner


def _is_of(field: str, stem: str) -> bool:
    return singular_phrase(words(field)) in {f"{stem}{kind}" for kind in _KINDS}


def _holds_parts(entity: Entity, field: str) -> bool:
    schema = entity.fields[field].schema
    return main_type(schema) == "object" or bool(line_parts(schema))


def _named_by(look: Look, plan: Plan, mine: Entity, holder: Entity) -> str | None:
    """What names the record around: an argument, or a link of the record that is written."""
    if holder.name == mine.name:
        return plan.key if plan.verb == "update" else None
    name, score = key_argument("update", holder.name, holder.key, look.input)
    if score >= 2 and name is not None and snake(name) != "id":
        return name
    return next((field for field, one in mine.fields.items() if one.link == holder.name), None)
