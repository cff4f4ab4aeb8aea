"""Write a first program for the tools of a server: what was inferred of them, as Python to edit.

Tools for files, git and SQL become calls of the libraries. A person words the answers as the server does."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from keyword import iskeyword
from textwrap import wrap
from typing import Any, cast
from unicodedata import normalize

from mcp_sim.runs.starter.texts import template
from mcp_sim.spec.program_tables import is_table_name
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import parameter_name

_WIDTH = 110
_VERBS = ("create", "get", "list", "search", "update", "delete")
_USED = frozenset({"Refused", "found", "given", "known", "list", "row", "rows", "tables", "tool", "world"})
"""Names that a program uses itself."""


def program_text(name: str, domain: Domain) -> str:
    """Return the text of a program for the tools of a server.

    It has a function for each tool that creates, gets, lists, searches, updates or deletes records in a plain way, and
    for each that works on files, a repository or a database.
    """
    tools = {tool.id: tool for tool in domain.tools.values() if tool.server == name}
    adapted = {tool: adapter for tool, adapter in adapters(tools).items() if _has_parameters(tools[tool])}
    plans = [
        domain.plans[tool] for tool in tools if tool in adapted or _is_plain(domain.plans[tool], tools[tool], domain)
    ]
    functions = _function_names([tools[plan.tool].name for plan in plans])
    entities = dict.fromkeys(plan.entity for plan in plans if plan.entity is not None and plan.tool not in adapted)
    tables = [line for entity in entities for line in _table(domain.entities[entity], entities)]
    libraries = [*dict.fromkeys(adapter.library for adapter in adapted.values())]
    loads = [f"    world.{library}.load(given)" for library in libraries]  # the given state
    written = [
        "\n\n" + "\n".join(_function(plan, tools[plan.tool], functions, adapted.get(plan.tool))) + "\n"
        for plan in plans
    ]
    helpers = [name for name in ("given", "known") if any(f"{name}(" in function for function in written)]
    names = [*(["Refused"] if "known" in helpers else []), *(["initial"] if libraries else []), "tool"]
    # The imports of a program, those of Python first.
    lines = {line for adapter in adapted.values() for line in adapter.imports}
    ours = sorted(line for line in lines if "mcp_sim" in line)
    ours.append(f"from mcp_sim.programs import {', '.join(names)}")
    others = sorted(line for line in lines if "mcp_sim" not in line)
    head = {
        "name": re.sub(r"[^\w .-]", "_", name),
        "imports": "\n".join([*others, *([""] if others else []), *ours]),
        "tables": "\n".join(["tables = {", *tables, "}"]) if tables else "tables = {}",
        "begin": "\n".join(["\n\n\n@initial\ndef begin(given, world):", *loads]) if libraries else "",
    }
    parts = [template("program").format(**head), *map(template, helpers), *written]
    unwritten = [tool.name for tool in tools.values() if tool.id not in {plan.tool for plan in plans}]
    left = [name if name.isprintable() else json.dumps(name) for name in unwritten]
    comment = wrap(f"These tools keep the plan that was inferred: {', '.join(left)}", _WIDTH, break_on_hyphens=False)
    parts += ["\n\n", *(f"# {line}\n" for line in comment)] if left else []
    return "".join(parts)


def _is_plain(plan: Plan, tool: Tool, domain: Domain) -> bool:
    """Whether a few lines of Python do what a plan says."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or entity.singleton or entity.open or entity.inside is not None:
        return False
    if not is_table_name(entity.name) or not _is_normal(entity.name) or not _has_parameters(tool):
        return False
    is_odd = plan.choices or plan.each or plan.holder or plan.how or tool.output_schema is not None
    used = {plan.key, plan.query, plan.paging.limit, plan.paging.offset, *plan.sets, *plan.filters} - {None}
    is_flat = all(name in properties(tool.input_schema) for name in used)
    has_key = plan.key is not None or plan.verb in {"create", "list", "search"}
    is_equal = all(rule.op == "equals" and rule.only is rule.unless is None for rule in plan.filters.values())
    return plan.backend == "records" and plan.verb in _VERBS and not is_odd and is_flat and has_key and is_equal


def _has_parameters(tool: Tool) -> bool:
    """Whether all arguments can be parameters of one function, and hide no name that its body uses."""
    names = [parameter_name(argument) for argument in properties(tool.input_schema)]
    return len({*names} - _USED) == len(names) and all(name.isidentifier() and _is_normal(name) for name in names)


def _is_normal(name: str) -> bool:
    """Whether Python keeps an identifier as it is; it reads the ligature `ﬁ` as two letters."""
    return normalize("NFKC", name) == name


def _function_names(tools: Iterable[str]) -> Mapping[str, str]:
    """Return a function for each tool. No two have the same name, or one that the program uses for something else."""
    names: dict[str, str] = {}
    for tool in tools:
        name = re.sub(r"\W", "_", normalize("NFKC", tool))
        name = name if name.isidentifier() else f"_{name}"
        while iskeyword(name) or name in _USED or name in names.values():
            name += "_"
        names[tool] = name
    return names


def _table(entity: Entity, tables: Container[str]) -> Iterator[str]:
    """Yield the lines that declare a table."""
    links = {field.name: field.link for field in entity.fields.values() if field.link and field.link in tables}
    body: Record = {"key": entity.key, "ids": entity.key_like, "natural": entity.natural, "links": links}
    usual: Mapping[str, Json] = {"key": "id", "ids": None, "natural": False, "links": {}}
    yield f"    {_literal(entity.name)}: {{"
    yield from (f"        {_literal(key)}: {_literal(value)}," for key, value in body.items() if value != usual[key])
    yield '        "fields": {'
    for field in entity.fields.values():
        schema = {key: value for key, value in field.schema.items() if key != "description"} or {"type": "string"}
        yield f"            {_literal(field.name)}: {_literal(schema)},"
    yield "        },"
    yield "    },"


def _literal(value: Json) -> str:
    """Return a JSON value as Python writes it."""
    if isinstance(value, dict):
        parts = (f"{_literal(name)}: {_literal(inner)}" for name, inner in cast("Record", value).items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, cast('list[Json]', value)))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _function(plan: Plan, tool: Tool, functions: Mapping[str, str], adapter: _Adapter | None) -> Iterator[str]:
    name = functions[tool.name]
    needed = required(tool.input_schema)
    arguments = sorted(properties(tool.input_schema), key=lambda argument: argument not in needed)
    taken = ", ".join(f"{parameter_name(argument)}{'' if argument in needed else '=None'}" for argument in arguments)
    options = [] if name == tool.name else [_literal(tool.name)]
    options += [] if adapter is None else [adapter.decorator]
    yield f"@tool({', '.join(options)})" if options else "@tool"
    yield f"def {name}(world{', ' if taken else ''}{taken}):"
    yield from (f"    {line}" for line in (_body(plan) if adapter is None else adapter.lines))


def _body(plan: Plan) -> Iterator[str]:
    table, key = f"world.{plan.entity}", parameter_name(plan.key or "")
    values = _given({field: argument for argument, field in plan.sets.items()})
    fixed = f", **{_literal(dict(plan.fixed))}" if plan.fixed else ""
    match plan.verb:
        case "create":
            yield f"return {table}.add({values}{fixed})"
        case "get":
            yield f"return known({table}, {key})"
        case "update":
            yield f"row = known({table}, {key})"
            yield f"row.update({values}{fixed})"
            yield "return row"
        case "delete":
            yield f"{table}.delete(known({table}, {key}))"
            yield f'return f"Deleted {{{key}}}"'
        case _:
            equal = {rule.field: argument for argument, rule in plan.filters.items()}
            yield f"rows = {table}.find(**{_given(equal)})" if equal else f"rows = list({table})"
            if plan.query is not None:
                query = parameter_name(plan.query)
                yield f"if {query}:"
                yield f"    found = {table}.search({query})"
                yield "    rows = [row for row in rows if row in found]"
            limit, offset = plan.paging.limit, plan.paging.offset
            if limit is not None:
                begin = f", offset={parameter_name(offset)} or 0" if offset is not None else ""
                yield f"rows = {table}.page(rows, limit={parameter_name(limit)} or {plan.paging.size}{begin}).rows"
            rows = plan.envelope.rows or ""
            yield f"return {{{_literal(rows)}: rows}}" if rows and "." not in rows else "return rows"


def _given(arguments: Mapping[str, str]) -> str:
    """Return the call of `given` with the parameters of arguments, by field."""
    if all(field.isidentifier() and not iskeyword(field) for field in arguments):
        return f"given({', '.join(f'{field}={parameter_name(argument)}' for field, argument in arguments.items())})"
    pairs = (f"{_literal(field)}: {parameter_name(argument)}" for field, argument in arguments.items())
    return f"given(**{{{', '.join(pairs)}}})"


@dataclass(slots=True)
class _Adapter:
    """How a tool calls a library: its decorator, the lines of its function, and what these import."""

    library: str
    decorator: str
    lines: Sequence[str]
    imports: Sequence[str]


def adapters(tools: Mapping[str, Tool]) -> dict[str, _Adapter]:
    """Return the tools that a library answers, by id. A library is used if enough tools of the server mention it.

    `adapters.json` has for each function of a library the words of tools that mean it, one of each group, and usual
    names of the arguments that it takes; and the words (`also`) that do where other tools mention the library.
    """
    table: dict[str, Any] = json.loads(
        files("mcp_sim.runs.starter").joinpath("adapters.json").read_text(encoding="utf-8")
    )
    written: dict[str, _Adapter] = {}
    for library, declared in table.items():
        mentions, also = (frozenset(declared.get(words, "").split()) for words in ("mentions", "also"))
        fitting = {
            name: adapter
            for name, tool in tools.items()
            if name not in written and not (mentions | also).isdisjoint(_words_of(tool))
            for adapter in [_adapter(tool, library, declared)]
            if adapter is not None
        }
        if sum(not mentions.isdisjoint(_words_of(tools[name])) for name in fitting) >= declared["least"]:
            written |= fitting
    return written


def _words_of(tool: Tool) -> set[str]:
    texts = (tool.name, tool.description, *properties(tool.input_schema))
    return {word for text in texts for word in words(text)}


def _adapter(tool: Tool, library: str, declared: Mapping[str, Any]) -> _Adapter | None:
    """Return the first function that a tool means by its name, and whose arguments it has."""
    named = {*words(tool.name)}
    for function in declared["functions"]:
        if all(not named.isdisjoint(group.split("|")) for group in function["words"].split()):
            roles = {role.rstrip("?"): _argument(tool, names) for role, names in function["takes"].items()}
            missing = [role for role in function["takes"] if not role.endswith("?") and roles[role] is None]
            needed = {*required(tool.input_schema)} - {*roles.values()}
            if not missing and not needed:
                entity = declared["entity"]
                parameters = {role: "None" if name is None else parameter_name(name) for role, name in roles.items()}
                options = [f'verb="{function["verb"]}"', f'entity="{entity}"']
                options += [f'key="{roles[function["key"]]}"'] if function.get("key") else []
                options += [] if tool.output_schema is None else ["conforms=False"]
                lines = [line.format(**parameters) for line in function["code"]]
                return _Adapter(library, ", ".join(options), lines, function.get("imports", ()))
    return None


def _argument(tool: Tool, names: str) -> str | None:
    """Return the argument with one of these names, in any style, or None."""
    plain = {"_".join(words(argument)): argument for argument in properties(tool.input_schema)}
    return next((plain[name] for name in names.split() if name in plain), None)
