"""A state that a server may begin with, where none is given: a few records of what its tools are about."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_sim.generate.records import generate
from mcp_sim.recordings.compiling.subject import Subject, write_server
from mcp_sim.simulator.compile import load
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.lexicon.english import plural

_ROWS = 3
"""How many records show which fields vary."""
_ENTITIES = 3  # the form of a state, not its extent
_LONGEST = 120
"""The longest text of a field, in characters."""
_WRITES = frozenset({"create", "update", "delete"})


def suggested_state(subject: Subject) -> Record:
    """Return records of the entities that most tools work on, by their plural names; empty if nothing is inferred."""
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
    """Return the entities that tools write, those with the most tools first; if they write none, those they read."""
    counts = Counter(plan.entity for plan in domain.plans.values() if plan.entity)
    written = {plan.entity for plan in domain.plans.values() if plan.verb in _WRITES}
    entities = (domain.entities[name] for name, _ in counts.most_common() if name in domain.entities)
    tables = [entity.name for entity in entities if not (entity.singleton or entity.inside)]
    return ([name for name in tables if name in written] or tables)[:_ENTITIES]


def _records(file: Path, names: list[str]) -> Record:
    scenario = load(file)
    tables = generate(scenario.domain, scenario.records, scenario.seed)
    return {
        plural(name): [_short(row) for row in [*tables[name].values()][:_ROWS]] for name in names if tables.get(name)
    }


def _short(row: Record) -> Record:
    """Return a record whose long texts are cut."""
    return {name: _cut(value) for name, value in row.items()}


def _cut(value: Json) -> Json:
    return f"{value[:_LONGEST]}..." if isinstance(value, str) and len(value) > _LONGEST else value
