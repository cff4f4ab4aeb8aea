"""Tools that summarise records: statistics and counts by state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mcp_sim.backends.outcome import as_text as plain_text
from mcp_sim.backends.records.aggregates import Seen, place_measure, plain_summary, tally_by
from mcp_sim.backends.records.filters import matching_rows
from mcp_sim.backends.records.result_schemas import required_by_default
from mcp_sim.backends.refusal import neighbours, not_found
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.infer.result_descriptions import mentions_data
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, main_type, properties
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

_Render: TypeAlias = Callable[[Turn, Seen], Observation]


@backends.register("summaries")
class Summaries(Backend):
    """Counts of records, counts per state, and sums of their numbers, at the time of the call.

    A place of the output schema is filled by its name (`pending_orders`, `total_amount`, `by_status`). Values of other
    places are generated. Without a schema, the result has the number of records and the counts per kind.
    """

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        render, select = _renderer(tool, plan, domain), _selector(tool, plan, domain)

        def answer(turn: Turn, _invent: Invent) -> Transition:
            seen = select(turn)
            return Transition(seen if isinstance(seen, Observation) else render(turn, seen))

        return answer


def _subjects(plan: Plan, domain: Domain) -> dict[str, str | None]:
    """Return the entities to summarise, each with the link to the record that the call names, or None for all."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None:
        return {name: None for name, one in domain.entities.items() if not one.singleton and one.inside is None}
    if entity.key not in plan.arguments:
        return {entity.name: None}
    links: dict[str, str | None] = {
        other.name: field.name
        for other in domain.entities.values()
        for field in other.fields.values()
        if field.link == entity.name and main_type(field.schema) != "array"
    }
    return links or {entity.name: entity.key}


def _selector(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Seen | Observation]:
    """Return a function that selects the records to summarise, or fails if the call names a missing record."""
    entity, subjects = domain.entities.get(plan.entity or ""), _subjects(plan, domain)
    matching = matching_rows(tool, plan, entity, domain.entities) if entity is not None and plan.filters else None
    key, targets = "", dict[str, Entity]()
    if entity is not None:
        links = {name: one.link for name, one in entity.fields.items()}
        targets = {name: domain.entities[link] for name, link in links.items() if link and link in domain.entities}
        key, targets[entity.key] = entity.key, entity

    def rows(turn: Turn, name: str, link: str | None, asked: Record) -> list[Record]:
        wanted = {link: asked[key]} if link is not None and key in asked else asked
        found = matching(turn.view, turn.call.arguments) if matching else turn.view.rows(name)
        return [row for _, row in found if all(str(row.get(field)) == str(value) for field, value in wanted.items())]

    def select(turn: Turn) -> Seen | Observation:
        asked = {field: value for field, name in plan.arguments.items() if (value := turn.call.arguments.get(name))}
        for field, value in asked.items():
            target = targets.get(field)
            if target is not None and find_key(turn.view, target.name, value) is None:
                return not_found(tool, target.name, value, plan.arguments[field], neighbours(turn.view, target))
        return Seen({name: rows(turn, name, link, asked) for name, link in subjects.items()}, turn.now)

    return select


def _renderer(tool: Tool, plan: Plan, domain: Domain) -> _Render:
    """Return what renders the aggregates in the form of the tool's results."""
    entities = {name: domain.entities[name] for name in _subjects(plan, domain)}
    entity = entities.get(plan.entity or "") or (next(iter(entities.values())) if len(entities) == 1 else None)
    plain = _plain_summary(plan, entity, entities)
    if tool.output_schema is None:
        return lambda turn, seen: Observation(ToolResult(plain(turn, seen), form="json"))
    schema = expanded(tool.output_schema)
    parts = properties(schema)
    if [main_type(part) for part in parts.values()] == ["string"]:
        return _text_renderer(next(iter(parts)), tool, plan, plain)
    found = {name: place_measure(part, name, entity, entities) for name, part in parts.items()}
    make = value_maker(tool.name, "result", required_by_default(schema))

    def render(turn: Turn, seen: Seen) -> Observation:
        made = make(chance_of(turn.draws.seed, turn.draws.scope), {}, Moment(turn.now, turn.now))
        given = {name: turn.call.arguments[name] for name in parts if name in turn.call.arguments}
        counted = {name: fill(seen) for name, fill in found.items() if fill is not None}
        return Observation(ToolResult({**as_object(made), **given, **counted}))

    return render


def _text_renderer(place: str, tool: Tool, plan: Plan, plain: Callable[[Turn, Seen], Json]) -> _Render:
    """Return what renders the aggregates and the arguments that select records as the text of a result."""
    asked = (*plan.arguments.values(), *plan.filters)
    write = plain_text if mentions_data(tool.description) else _in_lines

    def render(turn: Turn, seen: Seen) -> Observation:
        given = {name: value for name in asked if (value := turn.call.arguments.get(name)) is not None}
        return Observation(ToolResult({place: write({**given, **as_object(plain(turn, seen))})}))

    return render


def _in_lines(value: Json) -> str:
    """Return a summary as text: a line for each number, and one for each of its parts."""
    lines: list[str] = []
    for name, part in as_object(value).items():
        label = snake(name).replace("_", " ").capitalize()
        inner = as_object(part)
        lines += [f"{label}:", *(f"- {one}: {number}" for one, number in inner.items())] if inner else []
        lines += [f"{label}: {part}"] if not isinstance(part, dict) else []
    return "\n".join(lines)


def _plain_summary(plan: Plan, entity: Entity | None, entities: Mapping[str, Entity]) -> Callable[[Turn, Seen], Json]:
    """Return the summary to show without a schema: counts per value of a field, or the total."""
    operation, _, field = plan.operation.partition(" by ")
    if operation != "count" or entity is None:
        summary = plain_summary(entity, entities)
        return lambda _turn, seen: summary(seen)
    name, argument = entity.name, plan.arguments.get(field)
    tally = tally_by(entity, field) if field else None

    def count(turn: Turn, seen: Seen) -> Json:
        if tally is None or argument in turn.call.arguments:
            return {"count": len(seen.rows[name])}
        return tally(seen)

    return count
