"""Give tools without recorded calls results in the form of those that have some: the same envelope, the same words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.json_forms import merged_names
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_templates import ROWS, SLOT

_FEWEST = 2
"""How many tools must show the form."""
_MOST = 0.7
"""The share of templates that must be JSON, and that must have a constant for it to belong to the envelope."""

Rename: TypeAlias = Callable[[str], str]


def with_borrowed_results(draft: Draft, recorded: Sequence[str], domain: Domain) -> Draft:
    """Return the draft with results for the tools that were not recorded, like those of similar recorded ones."""
    templates = {tool: _usual(draft.sim.get(tool, {})) for tool in recorded}
    bodies = {tool: as_object(one["json"]) for tool, one in templates.items() if isinstance(one.get("json"), dict)}
    texts = sum("text" in one for one in templates.values())
    if len(bodies) < _FEWEST or len(bodies) < _MOST * (len(bodies) + texts):
        return draft
    plans = {domain.tools[name].name: plan for name, plan in domain.plans.items()}
    form = _Form(bodies, plans, domain)
    layout = {key: one[key] for one in templates.values() if "json" in one for key in ("indent",) if key in one}
    sim = dict(draft.sim)
    for tool in domain.tools.values():
        known = sim.get(tool.name, {})
        if tool.name in recorded or "result" in known or tool.output_schema is not None:
            continue
        body = form.body(plans[tool.name], [*properties(expanded(tool.input_schema))])
        if body is not None:
            sim[tool.name] = {**known, "result": {"json": body, **layout}}
    return replace(draft, sim=sim)


def _usual(part: Mapping[str, Json]) -> Record:
    """Return the template for usual results: the last one."""
    listed = as_list(part.get("result"))
    return as_object(listed[-1] if listed else part.get("result"))


class _Form:
    """The form that recorded results have in common."""

    def __init__(self, bodies: Mapping[str, Record], plans: Mapping[str, Plan], domain: Domain) -> None:
        self._bodies, self._plans, self._domain = bodies, plans, domain
        fixed = Counter(f"{name}={canonical(part)}" for body in bodies.values() for name, part in body.items()
                        if not isinstance(part, dict | list) and not SLOT.search(str(part)))  # fmt: skip
        first = merged_names([*bodies.values()])
        shared = {name: part for body in bodies.values() for name, part in body.items()
                  if fixed[f"{name}={canonical(part)}"] >= _MOST * len(bodies)}  # fmt: skip
        self._envelope: Record = {name: shared[name] for name in first if name in shared}

    def body(self, plan: Plan, arguments: Sequence[str]) -> Record | None:
        """Return the result of a tool; None if nothing is known about it."""
        entity = self._domain.entities.get(plan.entity or "")
        alike = [tool for tool in self._bodies if self._plans[tool].verb == plan.verb and self._plans[tool].entity]
        if entity is not None and alike:
            tool = min(alike, key=lambda one: (self._plans[one].entity != entity.name, one))
            other = self._domain.entities.get(self._plans[tool].entity or "")
            if other is not None:
                return _for_entity(self._bodies[tool], other, entity)
        if not self._envelope:
            return None
        given = (
            {f"{name}?": f"{{arguments.{name}}}" for name in arguments} if plan.verb not in {"list", "search"} else {}
        )
        if plan.verb in {"list", "search"} and entity is not None:
            return {**self._envelope, plural(entity.name): {ROWS: _record(entity)}, "count": "{count}"}
        return {**self._envelope, **given}


def _for_entity(body: Record, entity: Entity, other: Entity) -> Record:
    """Return a result that shows another entity instead."""
    if entity.name == other.name:
        return body
    names = {entity.name: other.name, plural(entity.name): plural(other.name)}
    pattern = re.compile(
        "|".join(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])" for name in sorted(names, key=len)[::-1])
    )
    return cast("Record", _renamed(body, lambda text: pattern.sub(lambda found: names[found[0]], text), entity, other))


def _renamed(value: Json, rename: Rename, entity: Entity, other: Entity) -> Json:
    if isinstance(value, dict):
        parts = cast("Record", value)
        if _shows_record(parts, entity):
            return _record(other)
        return {
            rename(name) if name != ROWS else name: _renamed(part, rename, entity, other)
            for name, part in parts.items()
        }
    if isinstance(value, list):
        return [_renamed(part, rename, entity, other) for part in cast("list[Json]", value)]
    return value if not isinstance(value, str) or SLOT.fullmatch(value) else rename(value)


def _shows_record(parts: Record, entity: Entity) -> bool:
    """Whether an object has the fields of a record."""
    shown = [name.rstrip("?") for name, part in parts.items() if isinstance(part, str) and SLOT.fullmatch(part)]
    return sum(name in entity.fields for name in shown) >= max(2, len(parts) / 2)


def _record(entity: Entity) -> Record:
    fields = [name for name, one in entity.fields.items() if not one.hidden and name != entity.key]
    return {name: f"{{{name}}}" for name in (entity.key, *fields)}
