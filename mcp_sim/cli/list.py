"""`mcp-sim list`: document every kind, from its docstring and fields, and the shipped documents."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from mcp_sim.cli.terminal import Palette, json_option, print_json
from mcp_sim.spec.sources import shipped
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.kinds import Kind, Perturbation, families
from mcp_sim.types.kinds.registries import Registry

KINDS: Mapping[str, Registry[Any]] = {name.replace("_", "-"): registry for name, registry in families.items()}
SHIPPED = {"scenarios": "scenarios", "catalogue": "tool_specs", "presets": "presets"}
FAMILIES = (*KINDS, *SHIPPED)

EXAMPLES = {
    "perturbations": "perturbations:\n  - {entry}",
    "triggers": "perturbations:\n  - lost_ack: {{}}\n    when: {{{entry}}}",
    "expectations": "expect:\n  - {entry}",
    "world-models": "world_model:\n  {entry}",
}
"""An entry of each family in a scenario."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", nargs="?", metavar="FAMILY", help=f"one of {', '.join(FAMILIES)}; default: all")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a kind of the family, or a shipped document")
    json_option(parser, "the list or the manual")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 for an unknown family or name."""
    palette = Palette.of(sys.stdout)
    chosen = FAMILIES if args.family is None else (_known(args.family),)
    if args.json:
        print_json(
            {family: members(family) for family in chosen} if args.name is None else _as_json(chosen[0], args.name)
        )
    elif args.name is None:
        print("\n\n".join("\n".join(_overview(family, palette)) for family in chosen))
    elif chosen[0] in KINDS:
        print("\n".join(_manual(chosen[0], args.name, palette)))
    else:
        # Of a tool spec, the page of its service is shown.
        family = chosen[0]
        path = _path(family, args.name)
        path = path.with_name("README.md") if family == "catalogue" else path
        print(f"{palette.dim(str(path))}\n\n{path.read_text(encoding='utf-8').rstrip()}")
    return 0


def _known(family: str) -> str:
    """Return a family by its name or the name of its folder, with hyphens or underscores."""
    folders = {folder: name for name, folder in SHIPPED.items()}
    name = folders.get(family.replace("-", "_"), family.replace("_", "-"))
    if name not in FAMILIES:
        owner = next((known for known in FAMILIES if family in members(known)), None)
        hint = f"; did you mean `mcp-sim list {owner} {family}`?" if owner else did_you_mean(family, FAMILIES)
        raise UsageError(f"unknown family {family!r}{hint}")
    return name


def _overview(family: str, palette: Palette) -> Iterator[str]:
    """Yield a family, one line per member."""
    yield palette.bold(family)
    lines = members(family)
    width = max(map(len, lines), default=0)
    for name, text in lines.items():
        yield f"  {name:{width}}  {palette.dim(text)}"


def members(family: str) -> dict[str, str]:
    """Return the members of a family, each with a sentence."""
    if family in SHIPPED:
        return {name: _comment(path) for name, path in sorted(shipped(SHIPPED[family]).items())}
    registry = KINDS[family]
    return {name: (inspect.getdoc(registry[name]) or "").partition("\n")[0] for name in registry.names()}


def _comment(path: Path) -> str:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def _path(family: str, name: str) -> Path:
    known = shipped(SHIPPED[family])
    if name not in known:
        raise UsageError(f"unknown name {name!r} in {family}{did_you_mean(name, known)}")
    return known[name]


def _as_json(family: str, name: str) -> Record:
    """Return a shipped document, or the manual of a kind."""
    if family not in KINDS:
        path = _path(family, name)
        return {"name": name, "path": str(path), "text": path.read_text(encoding="utf-8")}
    kind = KINDS[family][name]
    manual: Record = {"name": name, "about": [*about(kind)], "description": inspect.getdoc(kind) or ""}
    if issubclass(kind, Kind):
        manual["options"] = kind.model_json_schema()
        manual["example"] = yaml.safe_load(example(name, kind))
    return manual


# the manual of a kind -------------------------------------------------------------------------------------------------


def _manual(family: str, name: str, palette: Palette) -> Iterator[str]:
    kind = KINDS[family][name]
    yield f"{palette.bold(name)}  {palette.dim(' '.join(about(kind)))}".rstrip()
    yield ""
    yield inspect.getdoc(kind) or ""
    if not issubclass(kind, Kind):
        return
    if kind.model_fields:
        yield f"\n{palette.bold('options')}"
        yield from option_lines(kind, palette)
    if family in EXAMPLES:
        yield f"\n{palette.bold('example')}"
        entry = example(name, kind)
        yield indent(permission(entry, kind) + EXAMPLES[family].format(entry=entry), "  ")


def permission(entry: str, kind: type[Kind]) -> str:
    """Return the line that a scenario needs to allow the entry, or ''."""
    if not issubclass(kind, Perturbation):
        return ""
    (options,) = yaml.safe_load(entry).values()
    return "allow_adversarial: true\n" if kind.model_validate(options).is_hostile() else ""


def about(kind: type[Any]) -> Iterator[str]:
    """Yield what a kind declares besides its options: a stage, a role, its visibility."""
    for attribute in ("stage", "role"):
        value = getattr(kind, attribute, None)
        if value is not None:
            yield f"{attribute}: {value.name.lower()}"
    if getattr(kind, "visibility", None) == "implicit":
        yield "implicit: the agent gets no sign of it"


def option_lines(kind: type[BaseModel], palette: Palette) -> Iterator[str]:
    """Yield the options of a kind: type, default and description."""
    width = max(map(len, _written_names(kind).values()))
    for name, type_and_default, description in options(kind):
        yield f"  {name:{width}}  {palette.dim(type_and_default)}"
        if description:
            yield f"  {'':{width}}  {description}"


def options(kind: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each option, its type with its default, and its description."""
    schema = kind.model_json_schema()
    defaults = kind.model_construct().model_dump(mode="json")
    names = _written_names(kind)
    for name, field in kind.model_fields.items():
        words = [type_words(schema["properties"][names[name]], schema.get("$defs", {}))]
        if field.is_required():
            words.append("required")
        elif defaults[name] not in (None, [], {}):
            words.append(f"default {_flow(defaults[name])}")
        yield names[name], ", ".join(words), field.description or ""


def _written_names(kind: type[BaseModel]) -> dict[str, str]:
    """Return the options as documents write them: `except` cannot be the name of a field."""
    return {name: field.alias or name for name, field in kind.model_fields.items()}


def type_words(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> str:
    """Return a JSON Schema in few words: `duration`, `whole number from 1`, `text | json`."""
    if "$comment" in schema:
        return schema["$comment"]
    if "$ref" in schema:
        return type_words(defined[schema["$ref"].rpartition("/")[2]], defined)
    if "enum" in schema or "const" in schema:
        return " | ".join(_flow(value) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        branches = [type_words(branch, defined) for branch in schema["anyOf"] if branch.get("type") != "null"]
        return " | ".join(dict.fromkeys(branches))
    return _plain_words(schema, defined)


def _plain_words(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> str:
    match schema.get("type"):
        case "integer" | "number" as kind:
            return ("whole number" if kind == "integer" else "number") + _range(schema)
        case "boolean":
            return "true | false"
        case "string":
            return "text"
        case "array":
            return f"list of {type_words(schema.get('items', {}), defined)}"
        case "object" if "properties" in schema:
            return f"{{{', '.join(schema['properties'])}}}"
        case "object":
            inner: Mapping[str, Any] | bool = schema.get("additionalProperties", True)
            return "mapping" if isinstance(inner, bool) else f"mapping of name: {type_words(inner, defined)}"
        case _:
            return "any value"


def _range(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if least is None:
        return "" if most is None else f" up to {most:g}"
    return f" from {least:g}" + ("" if most is None else f" to {most:g}")


def example(name: str, kind: type[Kind]) -> str:
    """Return an entry as a document would write it, built from the examples of the fields."""
    required = [field for field, info in kind.model_fields.items() if info.is_required()]
    shown = [field for field, info in kind.model_fields.items() if info.examples]
    names = _written_names(kind)
    for fields in (shown, shown[:1], required, []):
        options = {names[field]: (kind.model_fields[field].examples or [None])[0] for field in fields}
        if set(required) <= set(fields) and _is_valid(kind, options):
            return f"{name}: {_flow(_short(kind, options))}"
    return f"{name}: {{}}"


def _is_valid(kind: type[Kind], options: dict[str, Any]) -> bool:
    try:
        kind.model_validate(_short(kind, options))
    except ValidationError:
        return False
    return True


def _short(kind: type[Kind], options: dict[str, Any]) -> Any:
    """Return the options, or the value alone if only the first field is set."""
    first = next(iter(kind.model_fields), "")
    if list(options) != [first]:
        return options
    needs_name = isinstance(options[first], Mapping) and not kind.takes_mapping
    return options if needs_name else options[first]


def _flow(value: Any) -> str:
    """Return a value as YAML in one line."""
    text = yaml.safe_dump(
        to_jsonable_python(value), default_flow_style=True, width=sys.maxsize, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...")
