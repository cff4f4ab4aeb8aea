"""What does a tool spec say? Its server, its tools, and what it tells of entities, plans, failures and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from mcp_sim.spec import yaml12
from mcp_sim.spec.lint import example_problems, usable_tools
from mcp_sim.spec.overrides import check_sim, override
from mcp_sim.spec.parts.scenario import ScenarioDocument
from mcp_sim.spec.parts.surface import StubPart
from mcp_sim.spec.parts.tool_spec import EntityPart, Error, ErrorPart, ExamplePart, ToolSpecDocument
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import Reading, is_file_name, is_readable, shipped
from mcp_sim.spec.surface import (
    check_blocks,
    dumped,
    prompt_entities,
    read_manners,
    read_prompts,
    read_resources,
    resource_entities,
)
from mcp_sim.types import Json, Record, Tool, plain_failure
from mcp_sim.types.domain import Entity, Example, Field
from mcp_sim.types.error_templates import Template, VendorWording
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import Manner

_ERROR_STYLES = Path(__file__).parent / "error_styles"


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


def is_spec(value: Json) -> bool:
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
    check_sim(place.at("sim"), said.sim, found, path.parent)
    return Spec(
        server=_server(place, name, said, tuple(tools)),
        tools=tools,
        entities=entities,
        overrides={prefix + tool: override(part, path.parent) for tool, part in said.sim.items() if tool in found},
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
    schema = {key: value for key, value in body.items() if key not in {"link", "hidden"}}
    return Field(name, schema, body.get("link"), is_needed, hidden=body.get("hidden", False))


def _templates(errors: Mapping[str, ErrorPart]) -> dict[str, Template]:
    return {kind: _template(part) for kind, part in errors.items()}


def _template(part: ErrorPart) -> Template:
    if part.rpc is not None:
        return Template("rpc", part.rpc.model_dump(exclude_unset=True))
    if part.structured is not None:
        return Template("structured", part.structured)
    return Template("text", part.text) if part.text is not None else Template("json", part.json_text)


# what is said of tools and entities -----------------------------------------------------------------------------------


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
        for key in ("also", "owners", "among", "children"):
            for index, one in enumerate(getattr(part, key) or ()):
                yield place.at("sim", tool, key, index, "entity"), one.entity
        for value, one in (part.choices or {}).items():
            if one.entity is not None:
                yield place.at("sim", tool, "choices", value, "entity"), one.entity
    yield from resource_entities(place.at("resources"), said.resources)
    yield from prompt_entities(place.at("prompts"), said.prompts)


def error_style(name: str | None) -> Mapping[str, ErrorPart]:
    """Return the failures of a style that ships, by kind; none without a name."""
    if name is None:
        return {}
    file = _ERROR_STYLES / f"{name}.yaml"
    return TypeAdapter(dict[str, Error]).validate_python(yaml12.load(file.read_bytes(), str(file)).value)
