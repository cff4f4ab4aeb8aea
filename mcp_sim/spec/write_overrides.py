"""How does a tool spec say what was inferred? Plans and entities, as entries of `sim:` and `entities:`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from mcp_sim.spec.entity_names import relocated
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.parts.tool_spec import EntityPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import TOOL_LIST, Reading, locate
from mcp_sim.spec.tool_specs import is_spec, is_tool_list, spec_file
from mcp_sim.spec.yaml12 import Path as Parts
from mcp_sim.spec.yaml12.insertion import with_entries
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.plans import Filter, Plan


@dataclass(frozen=True, slots=True)
class SpecFile:
    """Where the tools of one server come from. `is_list`: a plain tools/list result, beside which a spec can stand."""

    server: str
    path: Path
    is_list: bool


def spec_files(reference: str | Path) -> list[SpecFile]:
    """The files of a scenario's tool specs, by server; of a tool spec or a tools/list result, itself."""
    path, reading = locate(reference), Reading()
    place = reading.open(path)
    if place is None:
        raise DocumentError(reading.problems)
    if is_tool_list(place.value):
        return [SpecFile("", path, is_list=True)]
    named: Json = place.mapping.get("tools")
    if isinstance(named, str) and not is_spec(place.value):
        return [_spec(reading, "", named, path)]
    if isinstance(named, dict):
        return [_spec(reading, server, str(value), path) for server, value in as_object(named).items()]
    return [SpecFile("", path, is_list=False)]


def spec_beside(tools: Path) -> Path:
    """Where the spec of a tools/list result stands."""
    return tools.with_name(tools.name.removesuffix(TOOL_LIST).removesuffix(".json") + ".yaml")


def _spec(reading: Reading, server: str, value: str, document: Path) -> SpecFile:
    file = Path(spec_file(value, document))
    place: Place | None = reading.open(file)
    return SpecFile(server, file, is_list=place is not None and is_tool_list(place.value))


def spec_text(text: str, domain: Domain, server: str) -> str:
    """The text of a server's tool spec, with what it does not say of plans and entities; what it says stays.

    A plan that is a guess has a comment above it that says so.
    """
    plans = [_sayable(plan, domain) for plan in domain.plans.values() if _is_of(domain, plan, server)]
    bare = partial(_bare, server=server)
    sim = {domain.tools[plan.tool].name: _said_plan(relocated(plan, bare)) for plan in plans}
    names = _spoken_of(domain, plans)
    entities = {_bare(name, server): _said_entity(domain.entities[name], server) for name in names}
    guesses: dict[Parts, str] = {("sim", domain.tools[plan.tool].name): _doubt(plan) for plan in plans if plan.guessed}
    said = {"entities": entities, "sim": sim}
    return with_entries(text, {name: part for name, part in said.items() if part}, _is_open, guesses)


def left_out(domain: Domain, server: str) -> list[str]:
    """The tools of a server of which so little is known that they are said to touch nothing."""
    return [plan.tool for plan in domain.plans.values() if _is_of(domain, plan, server) and not _is_known(plan)]


def _is_known(plan: Plan) -> bool:
    """Is anything known of a tool? That it touches no records must be sure."""
    return plan.verb != "unknown" and not (plan.verb == "none" and plan.guessed)


def _sayable(plan: Plan, domain: Domain) -> Plan:
    """A plan as a document can say it: without an entity that the document would not have, or touching nothing."""
    known = plan if plan.entity in domain.entities else replace(plan, entity=None)
    return known if plan.verb != "unknown" else replace(known, verb="none")


def _is_open(path: Parts) -> bool:
    """May it be completed, where the spec has it? Tools and entities may; a field or a list of filters stands as is."""
    return len(path) < 3 or (len(path) == 3 and path[0] == "entities" and path[2] == "fields")


def _is_of(domain: Domain, plan: Plan, server: str) -> bool:
    return not server or domain.tools[plan.tool].server == server


def _doubt(plan: Plan) -> str:
    return f"a guess ({plan.confidence:.2f}): {'; '.join(plan.reasons)}".replace("\n", " ")


def _bare(entity: str, server: str) -> str:
    """The name of an entity in the spec of a server whose entities are kept apart from those of others."""
    return entity.removeprefix(f"{server}.") if server else entity


def _spoken_of(domain: Domain, plans: list[Plan]) -> list[str]:
    """The entities that these plans work on, and those that they link to, in the domain's order.

    Where there is no other server, also those that tools only seem to speak of: what is made up may tell of them.
    """
    is_alone = len({tool.server for tool in domain.tools.values()}) == 1
    found = {name for name in domain.entities if is_alone and name not in domain.given}
    waiting = [name for plan in plans for name in _entities_of(plan) if name in domain.entities]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            links = (field.link or "" for field in domain.entities[name].fields.values())
            waiting += [link for link in links if link in domain.entities]
    return [name for name in domain.entities if name in found]


def _entities_of(plan: Plan) -> Iterator[str]:
    """The entity that a plan works on, and those on whose records it depends."""
    yield from (plan.entity,) if plan.entity is not None else ()
    yield from (one.entity for one in (*plan.also, *plan.owners, *plan.among, *plan.children))
    yield from (name for one in plan.choices.values() for name in _entities_of(one))


# entries --------------------------------------------------------------------------------------------------------------


def _said_plan(plan: Plan) -> Record:
    if plan.verb in {"none", "unknown"}:
        return {"verb": "none", **_said_login(plan)}
    if plan.choices:
        choices = {value: _said_plan(one) for value, one in plan.choices.items()}
        return {"choice": plan.choice, "choices": choices, **_said_login(plan)}
    told = {**_emptied(plan), **_told(plan)}
    return {name: told[name] for name in SimPart.model_fields if name in told}


def _said_login(plan: Plan) -> Record:
    return {"login": plan.login} if plan.login is not None else {}


def _emptied(plan: Plan) -> Record:
    """What is not in a plan because of something else that is, and would be inferred again if nothing were said."""
    return {**({"envelope": {}} if plan.shows else {}), **({"sets": {}} if plan.owners else {})}


def _told(part: Any) -> Record:
    """The fields of a plan, or of a part of one, that are not as they are where nothing is said of them."""
    return {
        one.name: _plain(getattr(part, one.name))
        for one in fields(part)
        if getattr(part, one.name) != (one.default if one.default_factory is MISSING else one.default_factory())
    }


def _plain(value: Any) -> Json:
    if is_dataclass(value):
        told = _told(value)
        return told["field"] if isinstance(value, Filter) and told.keys() == {"field"} else told
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in cast("Mapping[str, Any]", value).items()}
    return [_plain(one) for one in cast("list[Any]", value)] if isinstance(value, tuple | list) else value


def _said_entity(entity: Entity, server: str) -> Record:
    known = {name: getattr(entity, name) for name in EntityPart.model_fields if hasattr(entity, name)}
    needed = [name for name, field in entity.fields.items() if field.required]
    known |= {"required": needed, "fields": dict(_said_fields(entity.fields, server))}
    usual = EntityPart()
    said = {name: value for name, value in known.items() if value != getattr(usual, name)}
    return {name: value for name, value in said.items() if not (entity.singleton and value == entity.name)}


def _said_fields(inferred: Mapping[str, Field], server: str) -> Iterator[tuple[str, Record]]:
    """The fields, also those that are looked up: their names tell where."""
    for name, field in inferred.items():
        link = {} if field.link is None else {"link": _bare(field.link, server)}
        yield name, {**field.schema, **link, **({"hidden": True} if field.hidden else {})}
