"""Compile tool specs into a domain: the tools, entities and plans of all servers, and the records of a given state."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mcp_sim.generate.record_counts import orphans
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.libraries import entities_of
from mcp_sim.plans.infer import Inferred
from mcp_sim.plans.infer.given_state import Path
from mcp_sim.plans.infer.idempotency import find_idempotency, nouns_of
from mcp_sim.plans.records.accepted_keys import containers_of
from mcp_sim.plans.rendering.described_results import worded_tools
from mcp_sim.simulator.check_results import check_schemas, check_templates
from mcp_sim.simulator.inferred_tools import Programmed, ServerEvidence, infer_functions, infer_planned, plan_functions
from mcp_sim.simulator.unused_state import suggestions, unused_parts
from mcp_sim.spec.messages import shown
from mcp_sim.spec.overrides import check_how, rename_entities_in_plan, renamed
from mcp_sim.spec.parts.scenario import EVERY, WorldPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Json, Record, Tool, render_plain_failure
from mcp_sim.types.argument_descriptions import describe_arguments, resolve_wrapper, unwrap_tool
from mcp_sim.types.callers import Caller, find_caller
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.flagged_results import flagged_result
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import is_key
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import Program, ProgramFunction
from mcp_sim.types.result_schemas import usual_failures
from mcp_sim.types.scenario import GivenRecords
from mcp_sim.types.time_formats import time_example, time_format

_SAMPLE_SIZE = 50
"""How many of the given records of an entity show the format of its times: the last ones."""
_OF_ANSWERS = frozenset({"result", "idempotency"})
"""The fields of plans that no other field is inferred from."""
_EXAMPLE = datetime(2030, 1, 1, tzinfo=UTC)


@frozen
class CompiledDomain:
    """The domain of a scenario, the records of its given state, and what of that state no tool uses."""

    domain: Domain
    records: Mapping[str, GivenRecords]
    unused: Sequence[Path] = ()
    """The paths of these parts."""
    suggest: Callable[[Path], str] = lambda _: ""
    """Returns the line under `sim:` with which a tool would use a part; empty if it is missing."""


@frozen
class _Server:
    """What was inferred of one server, or of all servers that share their entities."""

    specs: Sequence[Spec]
    evidence: ServerEvidence
    inference: Inferred
    wrappers: Mapping[str, str]
    unused: Sequence[Path] = ()
    callers: Mapping[str, Caller] = field(default_factory=dict[str, Caller])


def compile_domain(specs: Mapping[str, Spec], world: WorldPart) -> CompiledDomain:
    """Compile the tools, entities and plans of all servers.

    Servers share entities of the same name, unless the world has `namespaces`.
    """
    specs = {server: _with_text_form(_with_libraries(spec, world.state)) for server, spec in specs.items()}
    servers = {server or spec.server.name: [spec] for server, spec in specs.items()}
    compiled = [_inferred(group, world) for group in (servers.values() if world.namespaces else [[*specs.values()]])]
    for inferred in compiled:
        check_schemas(inferred.specs)
        check_templates(inferred.specs, inferred.inference)
        _check_plans(inferred.specs, inferred.inference.plans)
        _check_entities(inferred.specs, inferred.inference.entities)
    whole = compiled[0].inference
    if world.namespaces:
        whole = _merged([_prefixed(server.inference, name) for server, name in zip(compiled, servers, strict=True)])
    tools = {name: tool for spec in specs.values() for name, tool in spec.tools.items()}
    examples = tuple(example for spec in specs.values() for example in spec.examples)
    about, given = (world.description, world.now, examples), frozenset(whole.records)
    wrappers = {tool: path for server in compiled for tool, path in server.wrappers.items()}
    callers = {tool: caller for server in compiled for tool, caller in server.callers.items()}
    counted = frozenset(whole.entities if EVERY in world.records else world.records)
    entities = _with_counted_closed(whole.entities, specs, counted)
    records = _given(whole, is_whole=any(server.evidence.state is not None for server in compiled))
    unspecified = _unspecified(entities, counted | records.keys(), specs)
    programs = tuple(_programs(specs, world))
    empty = {name for name, record in records.items() if not record.rows}
    tables = {f"{program.prefix}{table}" for program in programs for table in program.tables}
    domain = Domain(
        tools,
        entities,
        whole.plans,
        *about,
        open=world.open,
        given=given,
        specified=frozenset(entities) - unspecified - empty,
        declared=frozenset(name for name in entities if name in _declared_names(specs)),
        settled=counted | (records.keys() - empty) | tables,
        unspecified=unspecified,
        wrappers=wrappers,
        callers=callers,
        programs=programs,
    )
    # What only contains other records begins empty: its records appear when calls name them.
    records |= dict.fromkeys(containers_of(domain), GivenRecords(0))
    filled = {
        f"{program.prefix}{table}"
        for program in domain.programs
        if "initial" in program.hooks
        for table in program.tables
    }
    records |= {
        name: given
        for name, given in _table_records(domain).items()
        if name in filled or name not in records or not records[name].rows
    }
    # Servers share the given state, so that a part is unused only if none of them shows it.
    unused = [path for path in compiled[0].unused if all(path in server.unused for server in compiled)]
    return CompiledDomain(domain, records, unused, partial(_suggestion, compiled, world))


def _with_libraries(spec: Spec, state: Json) -> Spec:
    """Return a spec with the tables of the libraries that its program calls."""
    libraries = () if spec.program is None else sorted(spec.program.libraries)
    if spec.program is None or not libraries:
        return spec
    known = {entity.name: entity for name in libraries for entity in entities_of(name, state)}
    tables = tuple(dict.fromkeys((*spec.program.tables, *known)))
    return replace(spec, entities={**known, **spec.entities}, program=replace(spec.program, tables=tables))


def _with_text_form(spec: Spec) -> Spec:
    """Return a spec with the form of results that no tool declares. A program words its failures itself."""
    worded = {*spec.tools} if spec.text == "prose" else set[str]()
    if spec.text is None:
        worded = worded_tools(spec.tools, spec.examples)
    formed = {name: replace(tool, prose=name in worded) for name, tool in spec.tools.items()}
    if spec.program is None:
        formed = {name: _with_usual_failures(tool) for name, tool in formed.items()}
    return replace(spec, tools=formed)


def _with_usual_failures(tool: Tool) -> Tool:
    is_plain = tool.render_failure is render_plain_failure
    return replace(tool, render_failure=usual_failures(tool)) if is_plain else tool


def _programs(specs: Mapping[str, Spec], world: WorldPart) -> Iterator[Program]:
    """Yield the programs of all specs, each with the prefix of its tables and the given state."""
    for server, spec in specs.items():
        if spec.program is not None:
            name = server or spec.server.name
            prefix = f"{name}." if world.namespaces else ""
            yield replace(spec.program, prefix=prefix, state=world.state, server=name)


def _table_records(domain: Domain) -> dict[str, GivenRecords]:
    """Return what tables of programs begin with: nothing, or the record of a singleton with its defaults."""
    names = [f"{program.prefix}{table}" for program in domain.programs for table in program.tables]
    return {name: _first_records(domain.entities[name]) for name in names}


def _first_records(table: Entity) -> GivenRecords:
    if not table.singleton:
        return GivenRecords(0)
    defaults = {name: field.schema["default"] for name, field in table.fields.items() if "default" in field.schema}
    return GivenRecords(1, (defaults,), whole=True)


def _declared_names(specs: Mapping[str, Spec]) -> set[str]:
    """Return the names of the declared entities, also as they are with the server's name before them."""
    return {
        name for server, spec in specs.items() for entity in spec.entities for name in (entity, f"{server}.{entity}")
    }


def _unspecified(entities: Iterable[str], known: Container[str], specs: Mapping[str, Spec]) -> frozenset[str]:
    """Return the entities whose records are neither `known` nor declared, and those declared as open."""
    closed = [
        (server, name)
        for server, spec in specs.items()
        for name, entity in spec.entities.items()
        if not entity.open and name not in spec.undecided
    ]
    declared = {name for server, entity in closed for name in (entity, f"{server}.{entity}")}
    return frozenset(name for name in entities if name not in declared and name not in known)


def _with_counted_closed(
    entities: Mapping[str, Entity], specs: Mapping[str, Spec], counted: Container[str]
) -> dict[str, Entity]:
    """Close the entities whose records the scenario counts, unless a spec declares them open."""
    declared = {name for spec in specs.values() for name, entity in spec.entities.items() if entity.open}
    return {
        name: replace(entity, open=False) if name in counted and name not in declared else entity
        for name, entity in entities.items()
    }


def _check_plans(specs: Iterable[Spec], plans: Mapping[str, Plan]) -> None:
    """Note declared plans that cannot be carried out, and fields under `how` that no tool writes.

    Only the whole plan shows both.
    """
    for spec in specs:
        for tool, declared in spec.overrides.items():
            if spec.root is not None and tool in plans:
                name, plan = spec.tools[tool].name, plans[tool]
                if plan.verb == "unknown" and "verb" in declared:
                    spec.root.at("sim", name).warning(
                        f"cannot be carried out, and is not used: {'; '.join(plan.reasons)}"
                    )
                check_how(spec.root.at("sim", name), declared, plan, name)


def _suggestion(servers: Sequence[_Server], world: WorldPart, path: Path) -> str:
    """Return the line of the first suggestion that makes a tool use a part, and leaves no other part unused."""
    for server in servers:
        for tool, sim in suggestions(path, world.state, server.inference, server.evidence):
            # Compiled as a whole: a correction may make other tools leave their part of the state unused.
            unused = _inferred([_with_override(spec, tool.id, sim) for spec in server.specs], world).unused
            if not any(left[: len(path)] == path for left in unused) and {*unused} <= {*server.unused}:
                return f"{tool.name}: {{{', '.join(f'{key}: {value}' for key, value in sim.items())}}}"
    return ""


def _with_override(spec: Spec, tool: str, sim: Mapping[str, str]) -> Spec:
    return replace(spec, overrides={**spec.overrides, tool: sim}) if tool in spec.tools else spec


def _merged(parts: Sequence[Inferred]) -> Inferred:
    entities = {name: entity for inferred in parts for name, entity in inferred.entities.items()}
    plans = {name: plan for inferred in parts for name, plan in inferred.plans.items()}
    records = {name: rows for inferred in parts for name, rows in inferred.records.items()}
    return Inferred(entities, plans, records, frozenset[str]().union(*(inferred.unmentioned for inferred in parts)))


def _given(inferred: Inferred, *, is_whole: bool) -> dict[str, GivenRecords]:
    """Return the given records by entity. A given state is complete: entities that it does not mention are empty."""
    known = inferred.entities.keys() - inferred.unmentioned if is_whole else inferred.records.keys()
    rows = {name: tuple(inferred.records.get(name, ())) for name in inferred.entities if name in known}
    return {name: _whole(rows[name], inferred.entities[name]) for name in rows}


def _whole(rows: tuple[Record, ...], entity: Entity) -> GivenRecords:
    """Return the rows as the entity's only records. A singleton without a row is generated."""
    keyed = tuple(_with_key(row, entity.key) for row in rows)
    return GivenRecords(1) if entity.singleton and not rows else GivenRecords(len(rows), keyed, whole=True)


def _with_key(row: Record, key: str) -> Record:
    """Return the row with a text as its key if its key is a list or an object."""
    value = row.get(key)
    return {**row, key: json.dumps(value)} if isinstance(value, list | dict) else row


def _inferred(specs: Sequence[Spec], world: WorldPart) -> _Server:
    """Infer the entities and plans of these servers, but for tools that programs answer."""
    answered = Programmed.of(spec.program for spec in specs)
    evidence, wrappers, callers = _evidence(specs, world.state)
    tools, declared = evidence.tools, _declared(specs)
    # A program reads the whole state itself: rows that inference took from it would exist twice.
    if answered.takes_state and not answered.leaves_some(tools):
        evidence = replace(evidence, state=None)
    programmed = _program_plans(specs, tools, declared)
    inferred = infer_planned(evidence, declared, answered)
    known = inferred.entities
    local = {name: _with_local_entity(plan, known) for name, plan in programmed.items()}
    overrides = {name: override for spec in specs for name, override in spec.overrides.items()}
    plans = {name: _with_result(local.get(name) or inferred.plans[name], overrides.get(name, {})) for name in tools}
    nouns = nouns_of(tools, known)
    answering = {name: function for spec in specs if spec.program for name, function in spec.program.functions.items()}
    plans = {
        name: _with_idempotency(plan, tools[name], nouns, overrides.get(name, {}), answering.get(name))
        for name, plan in plans.items()
    }
    whole = replace(inferred, plans=plans)
    linked = {name for spec in specs for _, name in spec.links}
    unused = unused_parts(whole, linked, None if answered.takes_state else world.state)
    return _Server(specs, evidence, whole, wrappers, unused, callers)


def _with_result(plan: Plan, declared: Mapping[str, Any]) -> Plan:
    """Return a plan with the result templates of the spec: what else a tool does is inferred without them."""
    return plan.with_declared({"result": declared["result"]}) if "result" in declared else plan


def _with_idempotency(
    plan: Plan, tool: Tool, nouns: Container[str], declared: Mapping[str, Any], function: ProgramFunction | None
) -> Plan:
    """Return a plan with the idempotency key of its tool. A function that takes the argument has its own use of it."""
    if "idempotency" in declared:
        return plan.with_declared({"idempotency": declared["idempotency"]})
    idempotency = None if plan.idempotency is not None else find_idempotency(tool, plan, nouns)
    if idempotency is None or (function is not None and function.takes(idempotency[0].key)):
        return plan
    return replace(plan, idempotency=idempotency[0]).explained({"idempotency": idempotency[1]})


def _program_plans(specs: Sequence[Spec], tools: Mapping[str, Tool], declared: Mapping[str, Entity]) -> dict[str, Plan]:
    """Return the plans of the tools that programs answer. What functions leave open is inferred from their tools."""
    plans: dict[str, Plan] = {}
    for spec in specs:
        if spec.program is not None:
            answered = {name: tools[name] for name in spec.program.functions}
            plans |= plan_functions(spec.program, answered, infer_functions(answered, declared))
    return plans


def _evidence(specs: Sequence[Spec], state: Json) -> tuple[ServerEvidence, Mapping[str, str], Mapping[str, Caller]]:
    """Return what is known of these servers, the arguments that hold all others of their tools, and their callers."""
    declared = ((name, override) for spec in specs for name, override in spec.overrides.items())
    parts = {
        name: {key: value for key, value in override.items() if key not in _OF_ANSWERS} for name, override in declared
    }
    overrides = {name: value for name, value in parts.items() if value}
    served = {name: tool for spec in specs for name, tool in spec.tools.items()}
    planned = {name: tool for spec in specs for name, tool in spec.tools.items() if not _is_programmed(spec, name)}
    resolved = {name: resolve_wrapper(tool, overrides.get(name, {})) for name, tool in planned.items()}
    wrappers = {name: wrapper for name, wrapper in resolved.items() if wrapper is not None}
    unwrapped = {name: unwrap_tool(served[name], wrapper) for name, wrapper in wrappers.items()}
    flagged = {name: form.tool for name, tool in {**planned, **unwrapped}.items() if (form := flagged_result(tool))}
    bare = {**planned, **unwrapped, **flagged}
    caller = None if state is None else find_caller([*bare.values()], state)
    called = {name: tool for name, each in bare.items() if caller and (tool := caller.planned(each))}
    callers = {name: caller for name in called if caller}
    tools = {name: describe_arguments(tool) for name, tool in {**served, **bare, **called}.items()}
    examples = [example for spec in specs for example in spec.examples if not example.is_blocks]
    return ServerEvidence(tools, state, examples, overrides), wrappers, callers


def _is_programmed(spec: Spec, tool: str) -> bool:
    """Whether a program answers the tool: it gets the arguments as they are."""
    return spec.program is not None and tool in spec.program.functions


def _check_entities(specs: Sequence[Spec], entities: Mapping[str, Entity]) -> None:
    """Note the places of specs that name an unknown entity."""
    for spec in specs:
        for place, name in spec.links:
            if name not in entities:
                place.error(f"unknown entity {name!r}{did_you_mean(name, entities)}")


def _with_local_entity(plan: Plan, entities: Mapping[str, Entity]) -> Plan:
    """Return a matched plan with its entity's name in this domain: `message` may be called `vessel_message` here."""
    choices = {value: _with_local_entity(choice, entities) for value, choice in plan.choices.items()}
    local = (name for name in entities if name.endswith(f"_{plan.entity}"))
    is_known = plan.entity is None or plan.entity in entities
    return replace(plan, entity=plan.entity if is_known else next(local, plan.entity), choices=choices)


def _declared(specs: Sequence[Spec]) -> dict[str, Entity]:
    """Return the entities that specs declare. Two declarations of one entity are merged; the first one wins."""
    declared: dict[str, Entity] = {}
    for spec in specs:
        for name, entity in spec.entities.items():
            known = declared.get(name)
            declared[name] = entity if known is None else replace(known, fields={**entity.fields, **known.fields})
    return declared


def _prefixed(inferred: Inferred, server: str) -> Inferred:
    """Return the inferred parts with the server's name before the names of entities."""

    def called(name: str) -> str:
        return f"{server}.{name}"

    entities = {called(name): renamed(entity, called) for name, entity in inferred.entities.items()}
    plans = {name: rename_entities_in_plan(plan, called) for name, plan in inferred.plans.items()}
    records = {called(name): rows for name, rows in inferred.records.items()}
    return Inferred(entities, plans, records, frozenset(map(called, inferred.unmentioned)))


def with_given_times(domain: Domain, records: Mapping[str, GivenRecords]) -> Domain:
    """Return the domain with an example in the schema of each time field whose given values have another format."""
    timed = {name: _with_times(entity, records[name]) for name, entity in domain.entities.items() if name in records}
    return replace(domain, entities={**domain.entities, **timed})


def _with_times(entity: Entity, given: GivenRecords) -> Entity:
    newest = given.rows[-_SAMPLE_SIZE:]
    fields = {field.name: field for field in entity.fields.values() if time_meaning(field.name, field.schema)}
    examples = {name: time_example(row.get(name) for row in newest) for name in fields}
    changed = {
        name: replace(field, schema={**field.schema, "examples": [examples[name]]})
        for name, field in fields.items()
        if examples[name] is not None
        and time_format(format_time(_EXAMPLE, name, field.schema)) != time_format(examples[name])
    }
    return replace(entity, fields={**entity.fields, **changed}) if changed else entity


def check_records(place: Place, records: Mapping[str, GivenRecords], domain: Domain) -> None:
    """Note unknown entities, duplicate keys, and values that violate the schema of their field."""
    for name, record in records.items():
        entity = domain.entities.get(name)
        if entity is None:
            place.at(name).error(f"unknown entity{did_you_mean(name, domain.entities)}")
            continue
        validators = {field.name: Validator(field.schema) for field in entity.fields.values() if record.rows}
        seen = set[Any]()
        for index, row in enumerate(record.rows):
            _check_row(place.at(name, "rows", index), row, entity, validators, seen)


def check_links(place: Place, records: Mapping[str, GivenRecords], domain: Domain) -> None:
    """Warn about requested records that cannot be generated, because the records that they must link to are missing."""
    for name, needed in orphans(domain.entities, records).items():
        if name in records:
            place.at(name).warning(f"no {name} is generated: each must link to a {needed}, and none exists")


def _check_row(place: Place, row: Record, entity: Entity, validators: Mapping[str, Validator], seen: set[Any]) -> None:
    key = row.get(entity.key)
    if key is not None and not is_key(key):
        place.at(entity.key).error(f"a key must be a string or a whole number, not {shown(key)}")
    elif key is not None and key in seen:
        place.at(entity.key).error(f"duplicate key: there is another {entity.name} {key!r}")
    elif key is not None:
        seen.add(key)
    for name, value in row.items():
        if name not in validators and name != entity.key:
            place.at(name).warning(
                f"field {name!r} of {entity.name} is not used by any tool{did_you_mean(name, validators)}"
            )
        for problem in validators[name].problems(value) if name in validators else ():
            place.at(name).error(problem)
