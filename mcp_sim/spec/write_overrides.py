"""Write inferred plans and entities into tool specs, as entries of `sim:` and `entities:`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from mcp_sim.spec.overrides import rename_entities_in_plan
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.parts.tool_spec import EntityPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import TOOL_LIST, Sources, locate
from mcp_sim.spec.tool_specs import is_spec, is_tool_list, spec_file
from mcp_sim.spec.trust import Trust
from mcp_sim.spec.yaml12 import Path as Parts
from mcp_sim.spec.yaml12.writing import insert_entries
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, singleton_key
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.options import duration_text
from mcp_sim.types.plans import Filter, Idempotency, Plan
from mcp_sim.types.programs import PROGRAM


@frozen
class SpecFile:
    """The file with the tools of one server. `is_list`: it is a plain tools/list result without a spec."""

    server: str
    path: Path
    is_list: bool


def spec_files(reference: str | Path, trust: bool | Iterable[Path] = False) -> list[SpecFile]:
    """Return the files of a scenario's tool specs, one for each server; for a tool spec or tools/list result, itself.

    Raises `DocumentError` if the document cannot be read.
    """
    path, sources = locate(reference), Sources(Trust(trust))
    place = sources.open(path)
    if place is None:
        raise DocumentError(sources.problems)
    if is_tool_list(place.value):
        return [SpecFile("", path, is_list=True)]
    tools: Json = place.mapping.get("tools")
    if isinstance(tools, str) and not is_spec(place.value):
        return [_spec(sources, "", tools, path)]
    if isinstance(tools, dict):
        return [_spec(sources, server, str(value), path) for server, value in as_object(tools).items()]
    return [SpecFile("", path, is_list=False)]


def spec_beside(tools: Path) -> Path:
    """Return the path of the spec that belongs to a tools/list result."""
    return tools.with_name(tools.name.removesuffix(TOOL_LIST).removesuffix(".json") + ".yaml")


def _spec(sources: Sources, server: str, value: str, document: Path) -> SpecFile:
    file = spec_file(value, document, sources)
    if isinstance(file, str):
        raise UsageError(f"{document}: tools: {file}")
    place: Place | None = sources.open(file)
    return SpecFile(server, file, is_list=place is not None and is_tool_list(place.value))


def spec_text(text: str, domain: Domain, server: str) -> str:
    """Return the text of a server's tool spec with the plans and entities that it lacks. What it has stays.

    A plan that is a guess gets a comment above it. What a program declares is not repeated.
    """
    plans = [_expressible(plan, domain) for plan in domain.plans.values() if _is_of(domain, plan, server)]
    plans = [plan for plan in plans if plan.backend != PROGRAM]
    local_name = partial(_local_name, server=server)
    sim = {domain.tools[plan.tool].name: _plan_entry(rename_entities_in_plan(plan, local_name)) for plan in plans}
    tables = {f"{program.prefix}{table}" for program in domain.programs for table in program.tables}
    names = [name for name in _relevant_entities(domain, plans) if name not in tables]
    entities = {local_name(name): _entity_entry(domain, name, server) for name in names}
    comments: dict[Parts, str] = {
        ("sim", domain.tools[plan.tool].name): _guess_comment(plan) for plan in plans if plan.guessed
    }
    entries = {"entities": entities, "sim": sim}
    return insert_entries(text, {name: entry for name, entry in entries.items() if entry}, _is_open, comments)


def left_out(domain: Domain, server: str) -> list[str]:
    """Return the tools of a server whose plans are unknown. They are written as `verb: none`."""
    return [plan.tool for plan in domain.plans.values() if _is_of(domain, plan, server) and not _is_known(plan)]


def _is_known(plan: Plan) -> bool:
    """Whether it is known what a tool does. A guess that it touches no records does not count."""
    return plan.verb != "unknown" and not (plan.verb == "none" and plan.guessed)


def _expressible(plan: Plan, domain: Domain) -> Plan:
    """Return a plan that a document can express: without an unknown entity, and `none` instead of `unknown`."""
    known = plan if plan.entity in domain.entities else replace(plan, entity=None)
    return known if plan.verb != "unknown" else replace(known, verb="none")


def _is_open(path: Parts) -> bool:
    """Whether new keys may be added at a path of the spec: to tools, entities and their fields, not below."""
    return len(path) < 3 or (len(path) == 3 and path[0] == "entities" and path[2] == "fields")


def _is_of(domain: Domain, plan: Plan, server: str) -> bool:
    return not server or domain.tools[plan.tool].server == server


def _guess_comment(plan: Plan) -> str:
    """Return the comment above a guess: the evidence for the fields that are guessed."""
    guesses = (reason for name, basis in plan.basis.items() if plan.is_guessed(name) for reason in basis.reasons)
    return f"a guess ({plan.confidence:.2f}): {'; '.join(dict.fromkeys(guesses))}".replace("\n", " ")


def _local_name(entity: str, server: str) -> str:
    """Return the name of an entity without the namespace of its server."""
    return entity.removeprefix(f"{server}.") if server else entity


def _relevant_entities(domain: Domain, plans: list[Plan]) -> list[str]:
    """Return the entities that these plans work on, and those they link to, in the domain's order.

    If there is only one server, all inferred entities are included: generated values may mention them.
    """
    is_only_server = len({tool.server for tool in domain.tools.values()}) == 1
    relevant_entities = {name for name in domain.entities if is_only_server and name not in domain.given}
    pending = [name for plan in plans for name in _entities_of(plan) if name in domain.entities]
    while pending:
        name = pending.pop()
        if name not in relevant_entities:
            relevant_entities.add(name)
            links = (field.link or "" for field in domain.entities[name].fields.values())
            pending += [link for link in links if link in domain.entities]
    return [name for name in domain.entities if name in relevant_entities]


def _entities_of(plan: Plan) -> Iterator[str]:
    """Yield the entities that a plan and its choices work on."""
    yield from (plan.entity,) if plan.entity is not None else ()
    yield from (name for choice in plan.choices.values() for name in _entities_of(choice))


# entries --------------------------------------------------------------------------------------------------------------


def _plan_entry(plan: Plan) -> Record:
    if plan.verb in {"none", "unknown"}:
        return {"verb": "none"}
    if plan.choices:
        choices = {value: _plan_entry(choice) for value, choice in plan.choices.items()}
        return {"choice": plan.choice, "choices": choices}
    entry = _changed_fields(plan)
    return {name: entry[name] for name in SimPart.model_fields if name in entry}


def _changed_fields(value: Any) -> Record:
    """Return the fields of a plan, or of a part of one, that differ from their defaults."""
    return {
        field.name: _plain(getattr(value, field.name))
        for field in fields(value)
        if getattr(value, field.name)
        != (field.default if field.default_factory is MISSING else field.default_factory())
    }


def _plain(value: Any) -> Json:
    if isinstance(value, Idempotency):
        if value.expires is None:
            return value.key
        return {"key": value.key, "expires": duration_text(timedelta(seconds=value.expires))}
    if is_dataclass(value):
        changed = _changed_fields(value)
        return changed["field"] if isinstance(value, Filter) and changed.keys() == {"field"} else changed
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in cast("Mapping[str, Any]", value).items()}
    return [_plain(item) for item in cast("list[Any]", value)] if isinstance(value, tuple | list) else value


def _entity_entry(domain: Domain, name: str, server: str) -> Record:
    entity, is_undecided = domain.entities[name], name in domain.unspecified
    values = {name: getattr(entity, name) for name in EntityPart.model_fields if hasattr(entity, name)}
    fields = dict[str, Record]()
    for field in entity.fields.values():
        link = {} if field.link is None else {"link": _local_name(field.link, server)}
        fields[field.name] = {**field.schema, **link, **({"hidden": True} if field.hidden else {})}
    required = [name for name, field in entity.fields.items() if field.required]
    values |= {"required": required, "fields": fields}
    defaults = EntityPart()
    changed = {name: value for name, value in values.items() if value != getattr(defaults, name)}
    changed |= {"open": None} if is_undecided and not (entity.open or entity.singleton) else {}
    is_key_usual = entity.singleton and entity.key == singleton_key(entity.name, entity.fields)
    return {name: value for name, value in changed.items() if name != "key" or not is_key_usual}
