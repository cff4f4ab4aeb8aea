"""A state that a server may begin with, where none is given: a few records of what its tools are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from mcp_sim.generate.records import generate
from mcp_sim.recordings.compiling.subject import Subject, write_server
from mcp_sim.simulator.compile import load
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import plural, snake

_ROWS = 3
"""How many records show which fields vary."""
_ENTITIES = 3  # the form of a state, not its extent
_LONGEST = 120
"""The longest text of a field, in characters."""


def suggested_state(subject: Subject) -> Record:
    """Return records of the entities that most tools work on, by their plural names; empty if nothing is inferred.

    They have the fields that tools name: others would only mislead.
    """
    with TemporaryDirectory(prefix="mcp-sim-") as name:
        folder = Path(name)
        write_server(replace(subject, world={}), folder)
        try:
            names = _main_entities(load(folder / "scenario.json").domain)
            counts = {entity: {"count": _ROWS} for entity in names}
            write_server(replace(subject, world={"records": counts}), folder)
            return _records(folder / "scenario.json", names) if names else {}
        except DocumentError:
            return {}


def _main_entities(domain: Domain) -> list[str]:
    """Return the entities that tools create, those with the most tools first, else those they work on."""
    counts = Counter(plan.entity for plan in domain.plans.values() if plan.entity)
    created = {plan.entity for plan in domain.plans.values() if plan.verb == "create"}
    entities = (domain.entities[name] for name, _ in counts.most_common() if name in domain.entities)
    tables = [entity.name for entity in entities if not (entity.singleton or entity.inside)]
    return ([name for name in tables if name in created] or tables)[:_ENTITIES]


def _records(file: Path, names: list[str]) -> Record:
    scenario = load(file)
    tables = generate(scenario.domain, scenario.records, scenario.seed)
    known = {snake(name) for tool in scenario.domain.tools.values() for name in _names(tool.definition)}
    suggested: Record = {}
    for name in names:
        key = scenario.domain.entities[name].key
        rows = [
            {field: _cut(value) for field, value in row.items() if field == key or snake(field) in known}
            for row in [*tables.get(name, {}).values()][:_ROWS]
        ]
        suggested |= {plural(name): rows} if any(len(row) > 1 for row in rows) else {}
    return suggested


def _names(value: Json) -> Iterator[str]:
    """Yield the names of properties in schemas."""
    if isinstance(value, dict):
        inner = cast("Record", value)
        yield from as_object(inner.get("properties"))
        for nested in inner.values():
            yield from _names(nested)
    elif isinstance(value, list):
        for nested in cast("list[Json]", value):
            yield from _names(nested)


def _cut(value: Json) -> Json:
    return f"{value[:_LONGEST]}..." if isinstance(value, str) and len(value) > _LONGEST else value
