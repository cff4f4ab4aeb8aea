"""The files of an imported server, and how they differ from existing ones.

NAME.tools.json is the vendor's list, unchanged. NAME.yaml is the tool spec for it and belongs to the user: it is
created once, and later imports only insert what is missing. If part of the list cannot be served, the original is
kept in NAME.vendor.tools.json, and NAME.tools.json has what can be served.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, cast

from mcp_sim.spec import yaml12
from mcp_sim.spec.repair import repair_tools
from mcp_sim.spec.shipped_programs import recognise
from mcp_sim.spec.sources import is_file_name
from mcp_sim.spec.yaml12.writing import insert_entries
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported
from mcp_sim.types.tools import FASTMCP_META

_OPENED = {"entities", "sim", "errors"}


@frozen
class Files:
    """The texts to write for a server by path (None: delete the file), and messages about what is doubtful."""

    spec: Path
    texts: Mapping[Path, str | None]
    doubts: tuple[str, ...]
    program: str | None = None
    """The shipped program that the spec has."""


def build_files(imported: Imported, kind: str, folder: Path) -> Files:
    """Return the files of an imported server. Raises `UsageError` if its spec would replace another document."""
    spec, tools, vendor = (folder / f"{imported.name}{end}" for end in (".yaml", ".tools.json", ".vendor.tools.json"))
    usable = repair_tools(imported.tools)
    untouched = usable.tools == [*imported.tools]
    added = {name: value for name, value in imported.spec.items() if value not in (None, {}, [])}
    if reads_arguments_leniently(imported.tools):
        added = {"arguments": "lenient", **added}
    names = {str(as_object(tool).get("name")) for tool in usable.tools}
    sim = {name: value for name, value in as_object(added.get("sim")).items() if name in names}
    known = {**{key: value for key, value in added.items() if key != "sim"}, **({"sim": sim} if sim else {})}
    text, doubts = _spec_text(spec, tools, imported.name, kind, known)
    texts: dict[Path, str | None] = {
        tools: tool_list_text(usable.tools),
        vendor: None if untouched else tool_list_text(imported.tools),
        spec: text,
    }
    program = as_object(_value(text, spec)).get("program")
    attached = program if isinstance(program, str) and not is_file_name(program) else None
    return Files(spec, texts, (*imported.doubts, *usable.doubts, *doubts), attached)


def with_program(imported: Imported, folder: Path) -> Imported:
    """Return a server with the shipped program that answers its tools, if there is one and its spec is new."""
    is_described = bool({"entities", "sim"} & imported.spec.keys())
    match = None if is_described or (folder / f"{imported.name}.yaml").exists() else recognise(imported.tools)
    if match is None:
        return imported
    return replace(imported, spec={"errors": match.errors, "sim": match.sim, **imported.spec, "program": match.name})


def tool_list_text(tools: Sequence[Json]) -> str:
    """Return the text of a file with a tools/list result."""
    return json.dumps({"tools": [*tools]}, indent=2, ensure_ascii=False) + "\n"


def differences(imported: Imported, folder: Path) -> list[str]:
    """Return the lines of a diff, tool by tool, between the list imported before and this one; empty if equal.

    Raises `UsageError` if nothing was imported before.
    """
    paths = [folder / f"{imported.name}{end}" for end in (".vendor.tools.json", ".tools.json")]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise UsageError(f"{paths[-1]}: file not found; nothing was imported as {imported.name!r} into {folder}")
    before = as_list(as_object(yaml12.load(path.read_bytes(), str(path)).value).get("tools"))
    old, new = _by_name(before), _by_name(imported.tools)
    lines: list[str] = []
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            lines.append(f"{'-' if name in old else '+'} {name}")
        elif old[name] != new[name]:
            before, after = (
                json.dumps(tool, indent=2, ensure_ascii=False).splitlines() for tool in (old[name], new[name])
            )
            changed = list(unified_diff(before, after, lineterm="", n=1))[2:]
            lines += [f"~ {name}", *(f"    {line}" for line in changed)]
    if not lines and list(old) != list(new):
        lines.append("the order of the tools has changed")
    return lines


def _by_name(tools: Sequence[Json]) -> dict[str, Json]:
    """Return the tools by name; a repeated name gets a number."""
    by_name: dict[str, Json] = {}
    for tool in tools:
        name = str(as_object(tool).get("name", "(no name)"))
        distinct, number = name, 2
        while distinct in by_name:
            distinct, number = f"{name} ({number})", number + 1
        by_name[distinct] = tool
    return by_name


# the spec -------------------------------------------------------------------------------------------------------------


def _spec_text(spec: Path, tools: Path, name: str, kind: str, added: Record) -> tuple[str, list[str]]:
    """Return the text of the spec, and messages about what differs between the source and the existing spec."""
    if not spec.exists():
        whole = {"mcp_sim": 1, "name": name, "tools": tools.name, **added}
        first = (
            f"# Imported by `mcp-sim import {kind}`. This file is yours: a later import only adds what is missing.\n"
        )
        return first + "".join(yaml12.dump({key: value}, blocks=2) for key, value in whole.items()), []
    text = spec.read_bytes().decode("utf-8-sig")
    existing = as_object(_value(text, spec))
    if existing.get("tools") != tools.name:
        raise UsageError(
            f"{spec}: already exists and is not a tool spec for {tools.name}; choose another --name or --output"
        )
    return insert_entries(text, added, _is_open), list(_disagreements(existing, added, spec.name))


def _is_open(path: yaml12.Path) -> bool:
    """Whether keys may be inserted at a path: new entities, plans and errors only."""
    return len(path) == 1 and path[0] in _OPENED


def _value(text: str, spec: Path) -> Json:
    try:
        return yaml12.load(text.encode(), str(spec)).value
    except DocumentError as error:
        raise UsageError(f"{error.problems[0]}; nothing was written") from None


def _disagreements(existing: Record, added: Record, spec: str) -> Iterator[str]:
    for key, value in added.items():
        if key not in existing:
            continue
        if isinstance(value, list) and existing[key] != value:
            yield f"{key} differ from {spec}, which keeps its own"
        elif key not in _OPENED and existing[key] != value:
            yield f"{key} is now {yaml12.flow(value)}; {spec} keeps its value"
        for name, entry in as_object(value).items() if key in _OPENED else ():
            if name in as_object(existing[key]) and as_object(existing[key])[name] != entry:
                yield f"{key}.{name} differs from {spec}, which keeps its value"


def scenario_text(specs: Mapping[str, Path]) -> str:
    """Return the text of a scenario with several imported servers."""
    tools = {name: path.name for name, path in specs.items()}
    return yaml12.dump({"mcp_sim": 1, "tools": cast("Json", tools)}, blocks=2)


def reads_arguments_leniently(tools: Sequence[Json]) -> bool:
    """Whether the tools are those of FastMCP or of the Python SDK, which take texts for the values they spell."""
    listed = [as_object(tool) for tool in tools]
    if any(_is_signed(tool) for tool in listed):
        return True
    schemas = [as_object(tool.get("inputSchema")) for tool in listed]
    # Schemas of zod have a `$schema`, those of pydantic have titles unless FastMCP removed them.
    return not any("$schema" in schema or _has_titles(schema) for schema in schemas) and any(
        schema.get("additionalProperties") is False and _has_optional_in_python(schema) for schema in schemas
    )


def _is_signed(tool: Record) -> bool:
    """Whether a tool has what only these frameworks write."""
    return (
        as_object(tool.get("inputSchema")).get("title") == f"{tool.get('name')}Arguments"
        or "x-fastmcp-wrap-result" in as_object(tool.get("outputSchema"))
        or not FASTMCP_META.isdisjoint(as_object(tool.get("_meta")))
    )


def _properties(schema: Record) -> list[dict[str, Any]]:
    return [as_object(value) for value in as_object(schema.get("properties")).values()]


def _has_titles(schema: Record) -> bool:
    return "title" in schema or any("title" in value for value in _properties(schema))


def _has_optional_in_python(schema: Record) -> bool:
    """Whether a property is written as pydantic writes `int | None = None`."""
    return any(
        "default" in value and value["default"] is None and {"type": "null"} in as_list(value.get("anyOf"))
        for value in _properties(schema)
    )
