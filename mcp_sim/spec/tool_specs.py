"""Read tool specs: a server, its tools, and what is declared about entities, plans, failures and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import TypeAdapter

from mcp_sim.spec import yaml12
from mcp_sim.spec.lint import example_problems, usable_tools
from mcp_sim.spec.overrides import check_sim, plan_fields
from mcp_sim.spec.parts.content import Error, ErrorPart, error_template
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.parts.scenario import ScenarioDocument
from mcp_sim.spec.parts.surface import StubPart
from mcp_sim.spec.parts.tool_spec import EntityPart, ExamplePart, ToolSpecDocument
from mcp_sim.spec.places import Place
from mcp_sim.spec.program_state import with_program_resources
from mcp_sim.spec.programs import DeclaredProgram, read_program, read_trusted_program
from mcp_sim.spec.shipped_programs import attach_program
from mcp_sim.spec.sources import Sources, is_file_name, shipped
from mcp_sim.spec.surface import (
    check_blocks,
    dump_parts,
    prompt_entities,
    read_interactions,
    read_prompts,
    read_resources,
    resource_entities,
)
from mcp_sim.types import FailureRenderer, Json, Record, Tool, render_plain_failure
from mcp_sim.types.domain import Entity, Example, Field, singleton_key
from mcp_sim.types.error_templates import Template, VendorErrors
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.programs import Program, ProgramFunction
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import Resource, ToolInteraction

_ERROR_STYLES = Path(__file__).parent / "error_styles"
_SAVED_KEYS = {"name", "title", "version", "description", "website", "icons", "instructions", "resources", "prompts",
               "examples", "errors", "text", "auth", "task"}  # fmt: skip
"""Keys that dumps of other servers may have beside their list of tools."""
_OWN_KEYS = {*ToolSpecDocument.model_fields, *ScenarioDocument.model_fields} - {"tools", *_SAVED_KEYS}


@frozen
class Spec:
    """The tool spec of one server, resolved. Tools, overrides and examples use the tool's id in the scenario."""

    server: ServerSpec
    tools: Mapping[str, Tool]
    entities: Mapping[str, Entity]
    undecided: frozenset[str]
    """The entities that are declared without deciding whether they are open."""
    overrides: Mapping[str, Mapping[str, Any]]
    examples: tuple[Example, ...]
    links: tuple[tuple[Place, str], ...] = ()
    """The places where the spec names entities, to be checked once all are known."""

    places: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """The place of each tool, by id."""

    interactions: Mapping[str, ToolInteraction] = field(default_factory=dict[str, ToolInteraction])
    stubs: tuple[StubPart, ...] = ()
    """The stubs; their tools are ids."""

    program: Program | None = None
    """The program that answers some of the tools; its functions are by id."""

    root: Place | None = None
    """The place of the whole spec."""

    text: Literal["json", "prose"] | None = None
    """The declared form of results that nothing else shows."""


def is_tool_list(value: Json) -> bool:
    """Whether a value is a tools/list result, or its list alone.

    A tool spec or scenario whose `mcp_sim: 1` is forgotten is not a list: its other keys would go unnoticed.
    """
    if isinstance(value, dict):
        body = cast("Record", value)
        return isinstance(body.get("tools"), list) and not body.keys() & _OWN_KEYS
    return isinstance(value, list)


def is_spec(value: Json) -> bool:
    """Whether a value is a tool spec or a list of tools, rather than a scenario."""
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


def read_spec(
    place: Place, path: Path, sources: Sources, server: str | None = None, prefix: str = "", program: Path | None = None
) -> Spec:
    """Read the tool spec at the root of a document. `prefix` is put before the names of its tools to make their ids.

    `program`: one that the user trusts, unless the document names one.
    """
    document = _document(place)
    name = document.name or path.name.partition(".")[0]
    listed = _tool_list(place, document, path, sources)
    usable = usable_tools(listed) if listed is not None else {}
    sources.tool_lists.append([*usable.values()])
    tools = _tools(document, usable, server or name, prefix)
    definitions = {tool: at.value for tool, at in usable.items()}
    declared = _program(place, document, path, sources, definitions, program)
    functions: Mapping[str, ProgramFunction] = {} if declared is None else declared.program.functions
    check_sim(place.at("sim"), document.sim, usable, functions)
    resources = read_resources(place.at("resources"), document.resources)
    if declared is not None:
        resources = with_program_resources(resources, declared.resources, declared.program.path, sources)
    by_id = {prefix + tool: function for tool, function in functions.items()}
    interactions = read_interactions(place.at("sim"), document, usable, has_resources=bool(resources))
    return Spec(
        server=_server(place, name, document, tuple(tools), resources),
        tools=tools,
        entities=_with_tables(place, document, declared),
        undecided=frozenset(name for name, entity in document.entities.items() if entity.open is None),
        overrides={prefix + tool: plan_fields(sim) for tool, sim in document.sim.items() if tool in usable},
        examples=tuple(_examples(place.at("examples"), document.examples, usable, prefix)),
        links=tuple(_links(place, document)),
        places={prefix + tool: at for tool, at in usable.items()},
        interactions={prefix + tool: interaction for tool, interaction in interactions},
        stubs=tuple(stub.model_copy(update={"tool": prefix + stub.tool}) for stub in document.stubs),
        program=None if declared is None else replace(declared.program, functions=by_id),
        root=place,
        text=document.text,
    )


def spec_file(value: str, document: Path, sources: Sources) -> Path | str:
    """Return the file that a `tools` value of a document refers to, or an error message."""
    if is_file_name(value):
        return sources.named_file(value, document)
    known = shipped("tool_specs")
    return known.get(value) or f"unknown tool spec {value!r}{did_you_mean(value, known)}"


def _program(
    place: Place,
    document: ToolSpecDocument,
    path: Path,
    sources: Sources,
    tools: Mapping[str, Record],
    trusted: Path | None,
) -> DeclaredProgram | None:
    """Read the program that the document names, else the one that the user trusts, if there is one."""
    if document.program is None:
        return None if trusted is None else read_trusted_program(trusted, sources, tools)
    if not is_file_name(document.program):
        return attach_program(place.at("program"), document.program, sources, tools)
    return read_program(place.at("program"), document.program, path, sources, tools)


def _with_tables(place: Place, document: ToolSpecDocument, program: DeclaredProgram | None) -> Mapping[str, Entity]:
    """Return the declared entities with the tables of the program."""
    entities = {name: _entity(name, entity) for name, entity in document.entities.items()}
    if program is None:
        return entities
    for name in entities.keys() & program.entities.keys():
        place.at("entities", name).error("the program has a table of this name; declare its fields there")
    return {**entities, **program.entities}


def _server(
    place: Place, name: str, document: ToolSpecDocument, tools: tuple[str, ...], resources: tuple[Resource, ...]
) -> ServerSpec:
    return ServerSpec(
        name,
        tools,
        document.version,
        document.title,
        document.instructions,
        document.unknown_tool,
        document.arguments,
        document.description,
        document.website,
        dump_parts(document.icons),
        document.page_size,
        resources,
        read_prompts(place.at("prompts"), document.prompts),
    )


# the document ---------------------------------------------------------------------------------------------------------


def _document(place: Place) -> ToolSpecDocument:
    if is_tool_list(place.value):
        return ToolSpecDocument.model_construct(mcp_sim=1, tools="")
    return place.read_leniently(ToolSpecDocument, {"mcp_sim": 1, "tools": []})


def _tool_list(place: Place, document: ToolSpecDocument, path: Path, sources: Sources) -> Place | None:
    """Return the place of the list of tools: here, or in a file of its own. None if there is no list."""
    if place.is_list or place.at("tools").is_list:
        return place if place.is_list else place.at("tools")
    if not isinstance(document.tools, str):
        return None
    file = sources.named_file(document.tools, path)
    if isinstance(file, str):
        place.at("tools").error(file)
        return None
    other = sources.open(file)
    if other is None or other.is_list:
        return other
    if not is_tool_list(other.value):
        other.error('is not a tools/list result: expected {"tools": [...]} or a list of tools')
        return None
    return other.at("tools")


def _entity(name: str, entity_part: EntityPart) -> Entity:
    fields = {
        field: _field(field, body, is_needed=field in entity_part.required)
        for field, body in entity_part.fields.items()
    }
    is_keyed = not entity_part.singleton or "key" in entity_part.model_fields_set
    key = entity_part.key if is_keyed else singleton_key(name, fields)
    return Entity(
        name,
        key,
        entity_part.key_like,
        fields,
        singleton=entity_part.singleton,
        natural=entity_part.natural,
        open=bool(entity_part.open),
    )


def _field(name: str, body: Record, *, is_needed: bool) -> Field:
    schema = {key: value for key, value in body.items() if key not in {"link", "hidden"}}
    return Field(name, schema, body.get("link"), is_needed, hidden=body.get("hidden", False))


def _templates(errors: Mapping[str, ErrorPart]) -> dict[str, Template]:
    return {kind: error_template(error) for kind, error in errors.items()}


def _tools(document: ToolSpecDocument, usable: Mapping[str, Place], server: str, prefix: str) -> dict[str, Tool]:
    """Return the tools by their ids, each with what renders its failures."""
    shared = VendorErrors(_templates({**load_error_style(document.error_style), **document.errors}))
    return {
        prefix + tool: Tool(prefix + tool, server, at.value, _failures(shared, at.value, document.sim.get(tool)))
        for tool, at in usable.items()
    }


def _failures(shared: VendorErrors, tool: Record, sim: SimPart | None) -> FailureRenderer:
    """Return what renders the failures of a tool: by its own templates, else by those of the spec."""
    templates = {} if sim is None or sim.errors is None else _templates(sim.errors)
    if not (shared.templates or templates):
        return render_plain_failure
    return shared.of_tool(tool["name"], properties(expanded(tool["inputSchema"])) if templates else (), templates)


# examples, links, errors ----------------------------------------------------------------------------------------------


def _examples(
    place: Place, examples: Iterable[ExamplePart], tools: Mapping[str, Place], prefix: str
) -> Iterable[Example]:
    for index, example in enumerate(examples):
        at = place.at(index)
        if example.tool not in tools:
            at.at("tool").error(f"unknown tool {example.tool!r}{did_you_mean(example.tool, tools)}")
            continue
        definition = tools[example.tool].value
        check_blocks(at.at("blocks"), example.blocks, [definition])
        example_problems(at, definition)
        result = example.result if example.blocks is None else list(dump_parts(example.blocks))
        yield Example(prefix + example.tool, example.arguments, result, example.blocks is not None)


def _links(place: Place, document: ToolSpecDocument) -> Iterable[tuple[Place, str]]:
    """Yield each place where an entity is named, with the name."""
    for entity, entity_part in document.entities.items():
        for name, body in entity_part.fields.items():
            if "link" in body:
                yield place.at("entities", entity, "fields", name, "link"), body["link"]
    for tool, entity_part in document.sim.items():
        if entity_part.entity is not None:
            yield place.at("sim", tool, "entity"), entity_part.entity
        for value, choice in (entity_part.choices or {}).items():
            if choice.entity is not None:
                yield place.at("sim", tool, "choices", value, "entity"), choice.entity
    yield from resource_entities(place.at("resources"), document.resources)
    yield from prompt_entities(place.at("prompts"), document.prompts)


def load_error_style(name: str | None) -> Mapping[str, ErrorPart]:
    """Return the failures of a shipped style by kind; none if `name` is None."""
    if name is None:
        return {}
    file = _ERROR_STYLES / f"{name}.yaml"
    return TypeAdapter(dict[str, Error]).validate_python(yaml12.load(file.read_bytes(), str(file)).value)
