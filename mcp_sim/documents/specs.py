"""What does a tool spec say? Its server, its tools, and what it tells of entities, plans, failures and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcp_sim.documents.lint import example_problems, usable_tools
from mcp_sim.documents.places import Place
from mcp_sim.documents.sources import Reading, is_file_name, is_readable, shipped
from mcp_sim.documents.styles import error_style
from mcp_sim.documents.surface import (
    check_blocks,
    dumped,
    prompt_entities,
    read_manners,
    read_prompts,
    read_resources,
    resource_entities,
)
from mcp_sim.domain import Also, Entity, Envelope, Example, Field, Filter, Paging, Swap
from mcp_sim.errors import did_you_mean
from mcp_sim.extensions import behaviours
from mcp_sim.functions import located, problem
from mcp_sim.scenario import ServerSpec
from mcp_sim.schemas import as_object, expanded, properties
from mcp_sim.spec_surface import StubPart
from mcp_sim.surface import Manner
from mcp_sim.tool_spec import EntityPart, ErrorPart, ExamplePart, SimPart, ToolSpecDocument
from mcp_sim.types import Json, Record, Tool, plain_failure
from mcp_sim.wording import Template, VendorWording
from mcp_sim.wrapping import wrapper_of

_ARGUMENT_KEYS = ("key", "each", "copies", "holder", "query", "sort", "order", "choice")
_NO_PART_OF_PLANS = ("ask", "notify", "blocks", "python")
"""What is said under `sim:` of a tool's answer, and not of what the tool does; and what a plan calls by other names."""

_PAGE_KEYS = ("limit", "offset", "page", "cursor")


@dataclass(frozen=True, slots=True)
class Spec:
    """One server's tool spec, resolved. Tools, overrides and examples go by the tool's id in the scenario."""

    server: ServerSpec
    tools: Mapping[str, Tool]
    entities: Mapping[str, Entity]
    overrides: Mapping[str, Mapping[str, Any]]
    examples: tuple[Example, ...]
    links: tuple[tuple[Place, str], ...] = ()
    """Where the spec names entities, to be looked up once all are known."""

    places: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """Where each tool stands."""

    manners: Mapping[str, Manner] = field(default_factory=dict[str, Manner])
    stubs: tuple[StubPart, ...] = ()
    """The stubs, with the ids of tools."""

    root: Place | None = None
    """The spec itself."""


def is_tool_list(value: Json) -> bool:
    """Is it a tools/list result, or the bare list of one?"""
    if isinstance(value, dict):
        body = cast("Record", value)
        return "mcp_sim" not in body and isinstance(body.get("tools"), list)
    return isinstance(value, list)


def read_spec(place: Place, path: Path, reading: Reading, server: str | None = None, prefix: str = "") -> Spec:
    """The tool spec at the root of a document; `prefix` stands before the names of its tools."""
    said = _document(place)
    name = said.name or path.name.partition(".")[0]
    listed = _tool_list(place, said, path, reading)
    found = usable_tools(listed) if listed is not None else {}
    errors = {**error_style(said.error_style), **said.errors}
    wording = VendorWording(_templates(errors)) if errors else plain_failure
    key = server or name
    tools = {prefix + tool: Tool(prefix + tool, key, at.value, wording) for tool, at in found.items()}
    entities = {entity: _entity(entity, part) for entity, part in said.entities.items()}
    _check_sim(place.at("sim"), said.sim, found, path.parent)
    return Spec(
        server=_server(place, name, said, tuple(tools)),
        tools=tools,
        entities=entities,
        overrides={prefix + tool: _override(part, path.parent) for tool, part in said.sim.items() if tool in found},
        examples=tuple(_examples(place.at("examples"), said.examples, found, prefix)),
        links=tuple(_links(place, said)),
        places={prefix + tool: at for tool, at in found.items()},
        manners={prefix + tool: manner for tool, manner in read_manners(place.at("sim"), said, found)},
        stubs=tuple(stub.model_copy(update={"tool": prefix + stub.tool}) for stub in said.stubs),
        root=place,
    )


def spec_file(value: str, document: Path) -> Path | str:
    """The file that a `tools` value means, or why there is none. `document` is the file it stands in."""
    if is_file_name(value):
        path = document.parent / value
        return path if is_readable(path) else f"there is no file {value!r} beside {document.name}"
    known = shipped("tool_specs")
    return known.get(value) or f"no tool spec {value!r} ships{did_you_mean(value, known)}"


def _server(place: Place, name: str, said: ToolSpecDocument, tools: tuple[str, ...]) -> ServerSpec:
    return ServerSpec(
        name,
        tools,
        said.version,
        said.title,
        said.instructions,
        said.unknown_tool,
        said.description,
        said.website,
        dumped(said.icons),
        said.page_size,
        read_resources(place.at("resources"), said.resources),
        read_prompts(place.at("prompts"), said.prompts),
    )


# the document ---------------------------------------------------------------------------------------------------------


def _document(place: Place) -> ToolSpecDocument:
    if is_tool_list(place.value):
        return ToolSpecDocument.model_construct(mcp_sim=1, tools="")
    return place.read_what_can_be(ToolSpecDocument, {"mcp_sim": 1, "tools": []})


def _tool_list(place: Place, said: ToolSpecDocument, path: Path, reading: Reading) -> Place | None:
    """Where the tools stand: here, or in a file of their own."""
    if place.is_list or place.at("tools").is_list:
        return place if place.is_list else place.at("tools")
    if not isinstance(said.tools, str):
        return None
    file = path.parent / said.tools
    if not is_readable(file):
        place.at("tools").error(f"there is no file {said.tools!r} beside {path.name}")
        return None
    other = reading.open(file)
    if other is None or other.is_list:
        return other
    if not is_tool_list(other.value):
        other.error('is no tools/list result: it must be {"tools": [...]}, or the list itself')
        return None
    return other.at("tools")


def _entity(name: str, part: EntityPart) -> Entity:
    fields = {field: _field(field, body, is_needed=field in part.required) for field, body in part.fields.items()}
    key = name if part.singleton and "key" not in part.model_fields_set else part.key
    return Entity(name, key, part.key_like, fields, singleton=part.singleton, natural=part.natural, open=part.open)


def _field(name: str, body: Record, *, is_needed: bool) -> Field:
    schema = {key: value for key, value in body.items() if key != "link"}
    return Field(name, schema, body.get("link"), is_needed)


def _templates(errors: Mapping[str, ErrorPart]) -> dict[str, Template]:
    return {kind: _template(part) for kind, part in errors.items()}


def _template(part: ErrorPart) -> Template:
    if part.rpc is not None:
        return Template("rpc", part.rpc.model_dump(exclude_unset=True))
    if part.structured is not None:
        return Template("structured", part.structured)
    return Template("text", part.text) if part.text is not None else Template("json", part.json_text)


def _override(part: SimPart, folder: Path) -> dict[str, Any]:
    """The fields of a plan that the spec fixes, as a plan has them. A function's module may lie in the folder."""
    fixed = {name: getattr(part, name) for name in part.model_fields_set if name not in _NO_PART_OF_PLANS}
    if part.python is not None:
        fixed |= {"behaviour": "python", "operation": located(part.python, folder)}
    if part.filters is not None:
        fixed["filters"] = {argument: Filter(**one.model_dump()) for argument, one in part.filters.items()}
    if part.searched is not None:
        fixed["searched"] = tuple(part.searched)
    if part.requires is not None:
        fixed["requires"] = {field: tuple(values) for field, values in part.requires.items()}
    if part.also is not None:
        fixed["also"] = tuple(Also(**one.model_dump()) for one in part.also)
    if part.swap is not None:
        fixed["swap"] = Swap(**part.swap.model_dump())
    if part.choices is not None:
        fixed["choices"] = {value: _override(one, folder) for value, one in part.choices.items()}
    if part.paging is not None:
        fixed["paging"] = Paging(**part.paging.model_dump())
    if part.envelope is not None:
        fixed["envelope"] = Envelope(**part.envelope.model_dump())
    return fixed


# what is said of tools and entities -----------------------------------------------------------------------------------


def _check_sim(place: Place, sim: Mapping[str, SimPart], tools: Mapping[str, Place], folder: Path) -> None:
    for name, part in sim.items():
        at = place.at(name)
        if name not in tools:
            at.error(f"there is no tool {name!r}{did_you_mean(name, tools)}")
            continue
        if part.behaviour is not None and part.behaviour not in behaviours.names():
            at.at("behaviour").error(f"unknown behaviour{did_you_mean(part.behaviour, behaviours.names())}")
        if part.python is not None:
            _check_function(at, part, folder)
        _check_arguments(at, part, tools[name].value)
        _doubt_filters(at, part)
        for value, one in (part.choices or {}).items():
            _check_arguments(at.at("choices", value), one, tools[name].value)
            if one.python is not None:
                at.at("choices", value, "python").error("a function answers the whole tool, not one choice of it")


def _check_function(at: Place, part: SimPart, folder: Path) -> None:
    if part.behaviour is not None or part.operation is not None:
        at.at("python").error("says how the tool works: leave out `behaviour` and `operation`")
    elif part.python is not None and (reason := problem(located(part.python, folder))) is not None:
        at.at("python").error(f"{part.python} {reason}")


def _check_arguments(at: Place, part: SimPart, tool: Record) -> None:
    """Note the arguments that are named, and which the tool does not have."""
    schema = expanded(tool["inputSchema"])
    known = as_object(schema.get("properties"))
    known |= properties(known[within]) if (within := wrapper_of(schema)) is not None else {}
    named = [((key,), getattr(part, key)) for key in _ARGUMENT_KEYS]
    named += [(("sets", argument), argument) for argument in part.sets or ()]
    named += [(("filters", argument), argument) for argument in part.filters or ()]
    named += [(("paging", key), getattr(part.paging, key)) for key in _PAGE_KEYS if part.paging is not None]
    for path, argument in named:
        if argument is not None and argument not in known and argument.partition(".")[0] not in known:
            at.at(*path).error(f"{tool['name']} has no argument {argument!r}{did_you_mean(argument, known)}")


def _doubt_filters(at: Place, part: SimPart) -> None:
    """Note comparisons in a plan for one record, which is found by equal values."""
    for argument, rule in (part.filters or {}).items() if part.verb in {"get", "update", "delete"} else ():
        if rule.op != "equals":
            at.at("filters", argument, "op").warning(
                f"a {part.verb} finds its record by equal values, not by {rule.op!r}"
            )


def _examples(
    place: Place, examples: Iterable[ExamplePart], tools: Mapping[str, Place], prefix: str
) -> Iterable[Example]:
    for index, example in enumerate(examples):
        at = place.at(index)
        if example.tool not in tools:
            at.at("tool").error(f"there is no tool {example.tool!r}{did_you_mean(example.tool, tools)}")
            continue
        definition = tools[example.tool].value
        check_blocks(at.at("blocks"), example.blocks, [definition])
        example_problems(at, definition)
        result = example.result if example.blocks is None else list(dumped(example.blocks))
        yield Example(prefix + example.tool, example.arguments, result, example.blocks is not None)


def _links(place: Place, said: ToolSpecDocument) -> Iterable[tuple[Place, str]]:
    """Each place where an entity is named."""
    for entity, part in said.entities.items():
        for name, body in part.fields.items():
            if "link" in body:
                yield place.at("entities", entity, "fields", name, "link"), body["link"]
    for tool, part in said.sim.items():
        if part.entity is not None:
            yield place.at("sim", tool, "entity"), part.entity
        for index, also in enumerate(part.also or ()):
            yield place.at("sim", tool, "also", index, "entity"), also.entity
        for value, one in (part.choices or {}).items():
            if one.entity is not None:
                yield place.at("sim", tool, "choices", value, "entity"), one.entity
    yield from resource_entities(place.at("resources"), said.resources)
    yield from prompt_entities(place.at("prompts"), said.prompts)
