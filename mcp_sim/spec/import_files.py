"""Which files does an imported server become, and how do they differ from those that are there?

NAME.tools.json is the vendor's list, untouched, and NAME.yaml the tool spec over it, which is the user's: it is made
once, and what a later import adds is laid into it. Where some of the list cannot be served, it is kept as it came in
NAME.vendor.tools.json, and NAME.tools.json has what can.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import cast

from mcp_sim.spec import yaml12
from mcp_sim.spec.repair import served
from mcp_sim.spec.yaml12.insertion import with_entries
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported

_OPENED = {"entities", "sim", "errors"}


@dataclass(frozen=True, slots=True)
class Files:
    """What is written for a server: texts by path, None where a file is to go; and what is doubtful, in sentences."""

    spec: Path
    texts: Mapping[Path, str | None]
    doubts: tuple[str, ...]


def files_of(found: Imported, kind: str, folder: Path) -> Files:
    """The files of an imported server. Raises UsageError where its spec would be laid over something else."""
    spec, tools, vendor = (folder / f"{found.name}{end}" for end in (".yaml", ".tools.json", ".vendor.tools.json"))
    usable = served(found.tools)
    untouched = usable.tools == [*found.tools]
    added = {name: part for name, part in found.spec.items() if part not in (None, {}, [])}
    known = _known(usable.tools, added)
    text, doubts = _spec_text(spec, tools, found.name, kind, known)
    texts: dict[Path, str | None] = {
        tools: tool_list_text(usable.tools),
        vendor: None if untouched else tool_list_text(found.tools),
        spec: text,
    }
    return Files(spec, texts, (*found.doubts, *usable.doubts, *doubts))


def tool_list_text(tools: Sequence[Json]) -> str:
    """A tools/list result as it is kept in a file."""
    return json.dumps({"tools": [*tools]}, indent=2, ensure_ascii=False) + "\n"


def differences(found: Imported, folder: Path) -> list[str]:
    """The lines of a diff between the list that was imported before and this one, tool by tool; none where equal."""
    before = _imported_before(found.name, folder)
    old, new = _by_name(before), _by_name(found.tools)
    lines: list[str] = []
    for name in dict.fromkeys([*old, *new]):
        lines += _difference(name, old.get(name), new.get(name))
    if not lines and list(old) != list(new):
        lines.append("the tools stand in another order")
    return lines


def _imported_before(name: str, folder: Path) -> list[Json]:
    paths = [folder / f"{name}{end}" for end in (".vendor.tools.json", ".tools.json")]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise UsageError(f"{paths[-1]}: there is no such file; nothing was imported as {name!r} into {folder}")
    return as_list(as_object(yaml12.load(path.read_bytes(), str(path)).value).get("tools"))


def _by_name(tools: Sequence[Json]) -> dict[str, Json]:
    """The tools by name; a name that stands twice has a number behind it."""
    found: dict[str, Json] = {}
    for tool in tools:
        name = str(as_object(tool).get("name", "(no name)"))
        own, number = name, 2
        while own in found:
            own, number = f"{name} ({number})", number + 1
        found[own] = tool
    return found


def _difference(name: str, old: Json, new: Json) -> Iterator[str]:
    if old == new:
        return
    if old is None or new is None:
        yield f"{'+' if old is None else '-'} {name}"
        return
    yield f"~ {name}"
    before, after = (json.dumps(one, indent=2, ensure_ascii=False).splitlines() for one in (old, new))
    yield from (f"    {line}" for line in list(unified_diff(before, after, lineterm="", n=1))[2:])


# the spec -------------------------------------------------------------------------------------------------------------


def _known(tools: Sequence[Json], added: Record) -> Record:
    """What is known beside the list, without what it says of tools that are not served."""
    names = {str(as_object(tool).get("name")) for tool in tools}
    sim = {name: part for name, part in as_object(added.get("sim")).items() if name in names}
    return {**{key: part for key, part in added.items() if key != "sim"}, **({"sim": sim} if sim else {})}


def _spec_text(spec: Path, tools: Path, name: str, kind: str, added: Record) -> tuple[str, list[str]]:
    """The text of the spec, and what the source says otherwise than the spec that is there."""
    if not spec.exists():
        whole = {"mcp_sim": 1, "name": name, "tools": tools.name, **added}
        first = (
            f"# Imported by `mcp-sim import {kind}`. This file is yours: a later import only adds what is missing.\n"
        )
        return first + "".join(yaml12.dump({key: part}, blocks=2) for key, part in whole.items()), []
    text = spec.read_bytes().decode("utf-8-sig")
    said = as_object(_value(text, spec))
    if said.get("tools") != tools.name:
        raise UsageError(
            f"{spec}: is there already, and no tool spec over {tools.name}; choose another --name or --out"
        )
    return with_entries(text, added, _is_open), list(_disagreements(said, added, spec.name))


def _is_open(path: yaml12.Path) -> bool:
    """A spec gets the entities and plans that it does not have; one that it has stays as it is."""
    return len(path) == 1 and path[0] in _OPENED


def _value(text: str, spec: Path) -> Json:
    try:
        return yaml12.load(text.encode(), str(spec)).value
    except DocumentError as error:
        raise UsageError(f"{error.problems[0]}; nothing was written") from None


def _disagreements(said: Record, added: Record, spec: str) -> Iterator[str]:
    for key, part in added.items():
        if key not in said:
            continue
        if key not in _OPENED and said[key] != part:
            yield f"{key} is now {yaml12.flow(part)}; {spec} keeps its own"
        for name, entry in as_object(part).items() if key in _OPENED else ():
            if name in as_object(said[key]) and as_object(said[key])[name] != entry:
                yield f"{key}.{name} is said otherwise in {spec}, which keeps its own"


def scenario_text(specs: Mapping[str, Path]) -> str:
    """A scenario over several imported servers."""
    tools = {name: path.name for name, path in specs.items()}
    return yaml12.dump({"mcp_sim": 1, "tools": cast("Json", tools)}, blocks=2)
