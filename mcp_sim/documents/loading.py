"""From documents to a `Scenario`: read, resolve, infer, and hold every part against the tools it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from mcp_sim.documents.entries import (
    named_world_model,
    read_expectations,
    read_perturbations,
    read_stubs,
    read_world_models,
)
from mcp_sim.documents.places import Place
from mcp_sim.documents.scenario_document import RecordsPart, ScenarioDocument, WorldPart
from mcp_sim.documents.sentences import shown
from mcp_sim.documents.sources import Reading, display, documents_in, is_folder, locate
from mcp_sim.documents.specs import Spec, is_tool_list, read_spec, spec_file
from mcp_sim.domain import Domain, Entity, Plan
from mcp_sim.errors import DocumentError, Problem, UsageError, did_you_mean
from mcp_sim.extensions import world_models
from mcp_sim.plans import infer
from mcp_sim.scenario import ClockSettings, GivenRecords, Scenario, ServerSpec, WorldModelEntry
from mcp_sim.tool_spec import ToolSpecDocument
from mcp_sim.types import Json, Record
from mcp_sim.validation import Validator

_SERVER_NAME_SIGNS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def load(reference: str | Path, *, world_model: str | None = None) -> Scenario:
    """The scenario of a file or a shipped name; of a tool spec or a tools/list result, a calm one.

    `world_model` (`builtin`, `openai:MODEL@URL`) replaces the scenario's own. Raises UsageError where there is nothing
    to read, DocumentError with every problem where it cannot be used.
    """
    override = None if world_model is None else named_world_model(world_model)
    reading = Reading()
    scenario = _read(locate(reference), reading, override)
    if scenario is None or reading.has_failed:
        raise DocumentError(reading.sorted())
    return replace(scenario, sha256=reading.sha256)


def check(references: Iterable[str | Path]) -> list[Problem]:
    """Everything that is wrong or doubtful in documents: files, shipped names, or folders of them."""
    return [problem for reference in references for _, found in checked(reference) for problem in found]


def checked(reference: str | Path) -> Iterator[tuple[str, list[Problem]]]:
    """Each document that a path or a shipped name stands for, with its problems; a folder stands for all in it."""
    folder = Path(reference)
    try:
        paths = documents_in(folder) if is_folder(folder) else [locate(reference)]
    except UsageError as error:
        yield str(reference), [Problem(str(reference), 0, "", str(error).removeprefix(f"{reference}: "))]
        return
    if not paths:
        yield str(reference), [Problem(str(reference), 0, "", "holds no scenario and no tool spec")]
    for path in paths:
        reading = Reading()
        scenario = _read(path, reading, None)
        if scenario is not None and not reading.has_failed:
            reading.problems.extend(_guesses(scenario))
        yield display(path), reading.sorted()


def _guesses(scenario: Scenario) -> Iterator[Problem]:
    """A warning for each tool whose plan is a guess, with the line that would correct it."""
    for plan in scenario.domain.plans.values():
        if plan.guessed:
            verb, entity = "..." if plan.verb == "unknown" else plan.verb, plan.entity or "..."
            line = f"{plan.tool.rpartition('/')[2]}: {{verb: {verb}, entity: {entity}}}"
            message = f"what {plan.tool} does is a guess; `mcp-sim plan` tells it, and under sim: `{line}` corrects it"
            yield Problem(scenario.path, 0, "", message, "warning")


def _read(path: Path, reading: Reading, override: WorldModelEntry | None) -> Scenario | None:
    """The scenario in a file, as far as it can be made; problems are noted in the reading."""
    place = reading.open(path)
    if place is None:
        return None
    if _is_spec(place.value):
        return _calm(place, path, reading, override)
    if not place.is_mapping:
        what = "is empty" if place.value is None else f"must be a mapping, not {shown(place.value)}"
        place.error(f"{what}; a scenario or tool spec begins with `mcp_sim: 1`")
        return None
    return _scenario(place, path, reading, override)


def _is_spec(value: Json) -> bool:
    """Is it a tool spec, or a list of tools, rather than a scenario?"""
    if is_tool_list(value):
        return True
    if not isinstance(value, dict):
        return False
    body = cast("Record", value)
    keys, tools = set(body), body.get("tools")
    spec_only = set(ToolSpecDocument.model_fields) - set(ScenarioDocument.model_fields)
    scenario_only = set(ScenarioDocument.model_fields) - set(ToolSpecDocument.model_fields)
    if keys & scenario_only:
        return bool(keys & spec_only) and isinstance(tools, list)
    return bool(keys & spec_only) or isinstance(tools, list) or str(tools).endswith(".json")


# a tool spec alone ----------------------------------------------------------------------------------------------------


def _calm(place: Place, path: Path, reading: Reading, override: WorldModelEntry | None) -> Scenario | None:
    """A scenario in which nothing goes wrong, over the tools of one spec."""
    specs = {"": read_spec(place, path, reading)}
    if reading.has_failed:
        return None
    domain = _domain(specs, WorldPart())
    name = specs[""].server.name
    models = (override or named_world_model("builtin"),)
    examples = specs[""].examples
    return Scenario(name, domain, {name: specs[""].server}, models, path=display(path), examples=examples)


# a scenario -----------------------------------------------------------------------------------------------------------


def _scenario(place: Place, path: Path, reading: Reading, override: WorldModelEntry | None) -> Scenario | None:
    said = place.read_what_can_be(ScenarioDocument, {"mcp_sim": 1, "tools": {"-": "-"}})
    specs = _specs(place.at("tools"), said, path, reading)
    domain = None if specs is None else _domain(specs, said.world)
    faults = read_perturbations(place.at("perturbations"), domain)
    expected = read_expectations(place.at("expect"), domain, [fault.id for fault in faults])
    stubs = read_stubs(place.at("stubs"), said.stubs, domain)
    models = (override,) if override else _world_models(place, domain)
    if domain is None or specs is None:
        return None
    _check_records(place.at("world", "records"), said.world.records, domain)
    clock = said.world.clock
    return Scenario(
        name=said.name or path.stem,
        domain=domain,
        servers=_servers(specs),
        world_models=models,
        path=display(path),
        task=said.task,
        seed=said.seed,
        records={name: _given(part) for name, part in said.world.records.items()},
        now=said.world.now,
        clock=ClockSettings(clock.mode, clock.per_call, clock.speed),
        is_open=said.world.open,
        perturbations=faults,
        expectations=expected,
        stubs=stubs,
        examples=domain.examples,
    )


def _world_models(place: Place, domain: Domain | None) -> tuple[WorldModelEntry, ...]:
    if place.mapping.get("world_model") is None:
        return (WorldModelEntry(world_models["builtin"](), "builtin"),)
    return read_world_models(place.at("world_model"), domain)


def _specs(place: Place, said: ScenarioDocument, path: Path, reading: Reading) -> dict[str, Spec] | None:
    """The specs of all servers by name ('' where the scenario gives none); None where one cannot be read."""
    if not (isinstance(place.value, str) or place.is_mapping):
        return None
    specs: dict[str, Spec] = {}
    before = reading.errors
    for server, value in said.tools.items():
        at = place.at(server) if place.is_mapping else place
        if place.is_mapping and not (server and set(server) <= _SERVER_NAME_SIGNS):
            at.error("the name of a server consists of letters, digits, `.`, `_` and `-`")
        prefix = f"{server}/" if len(said.tools) > 1 else ""
        spec = _spec(at, value, path, reading, server, prefix)
        if spec is not None:
            specs[server] = spec
    return specs if reading.errors == before else None


def _spec(at: Place, value: str, path: Path, reading: Reading, server: str, prefix: str) -> Spec | None:
    file = spec_file(value, path)
    if isinstance(file, str):
        at.error(file)
        return None
    root = reading.open(file)
    if root is None:
        return None
    if not _is_spec(root.value):
        root.error("is no tool spec" if isinstance(root.value, dict) else f"is no tool spec, but {shown(root.value)}")
        return None
    return read_spec(root, file, reading, server or None, prefix)


def _servers(specs: Mapping[str, Spec]) -> dict[str, ServerSpec]:
    return {server or spec.server.name: spec.server for server, spec in specs.items()}


# the domain -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Inferred:
    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]


def _domain(specs: Mapping[str, Spec], world: WorldPart) -> Domain:
    """Tools, entities and plans of all servers. Entities of one name are shared, unless they are kept apart."""
    tools = {name: tool for spec in specs.values() for name, tool in spec.tools.items()}
    if world.namespaces:
        parts = [_prefixed(_inferred([spec]), server or spec.server.name) for server, spec in specs.items()]
        entities = {name: entity for part in parts for name, entity in part.entities.items()}
        plans = {name: plan for part in parts for name, plan in part.plans.items()}
        whole = _Inferred(entities, plans)
    else:
        whole = _inferred(list(specs.values()))
    examples = tuple(example for spec in specs.values() for example in spec.examples)
    return Domain(tools, whole.entities, whole.plans, world.description, world.now, examples)


def _inferred(specs: Sequence[Spec]) -> _Inferred:
    """What the tools of these servers do, to which entities. Notes names of entities that do not exist."""
    tools = {name: tool for spec in specs for name, tool in spec.tools.items()}
    overrides = {name: override for spec in specs for name, override in spec.overrides.items()}
    examples = [example for spec in specs for example in spec.examples]
    entities, plans = infer(tools, _declared(specs), overrides, examples)
    for spec in specs:
        for place, name in spec.links:
            if name not in entities:
                place.error(f"unknown entity {name!r}{did_you_mean(name, entities)}")
    return _Inferred(entities, plans)


def _declared(specs: Sequence[Spec]) -> dict[str, Entity]:
    """The entities that specs declare; what two declare of one entity is laid together, the first one's word first."""
    declared: dict[str, Entity] = {}
    for spec in specs:
        for name, entity in spec.entities.items():
            known = declared.get(name)
            declared[name] = entity if known is None else replace(known, fields={**entity.fields, **known.fields})
    return declared


def _prefixed(part: _Inferred, server: str) -> _Inferred:
    """The entities of one server under names of their own."""
    entities = {f"{server}.{name}": _renamed(entity, server) for name, entity in part.entities.items()}
    plans = {
        name: plan if plan.entity is None else replace(plan, entity=f"{server}.{plan.entity}")
        for name, plan in part.plans.items()
    }
    return _Inferred(entities, plans)


def _renamed(entity: Entity, server: str) -> Entity:
    fields = {
        name: field if field.link is None else replace(field, link=f"{server}.{field.link}")
        for name, field in entity.fields.items()
    }
    return replace(entity, name=f"{server}.{entity.name}", fields=fields)


# records --------------------------------------------------------------------------------------------------------------


def _given(part: RecordsPart) -> GivenRecords:
    return GivenRecords(len(part.rows) if part.count is None else part.count, tuple(part.rows))


def _check_records(place: Place, records: Mapping[str, RecordsPart], domain: Domain) -> None:
    """Note unknown entities, keys that stand twice, and values that no tool could show."""
    for name, part in records.items():
        entity = domain.entities.get(name)
        if entity is None:
            place.at(name).error(f"unknown entity{did_you_mean(name, domain.entities)}")
            continue
        validators = {field.name: Validator(field.schema) for field in entity.fields.values() if part.rows}
        seen = set[Any]()
        for index, row in enumerate(part.rows):
            _check_row(place.at(name, "rows", index), row, entity, validators, seen)


def _check_row(place: Place, row: Record, entity: Entity, validators: Mapping[str, Validator], seen: set[Any]) -> None:
    key = row.get(entity.key)
    if key is not None and not (isinstance(key, str | int) and not isinstance(key, bool)):
        place.at(entity.key).error(f"a key must be a string or a whole number, not {shown(key)}")
    elif key is not None and key in seen:
        place.at(entity.key).error(f"a second {entity.name} {key!r}")
    elif key is not None:
        seen.add(key)
    for name, value in row.items():
        if name not in validators and name != entity.key:
            place.at(name).warning(f"no tool shows a field {name!r} of {entity.name}{did_you_mean(name, validators)}")
        for problem in validators[name].problems(value) if name in validators else ():
            place.at(name).error(problem)
