"""Odd tool lists and odd calls, drawn from a seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, cast

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types.json_schema.expansion import expanded

Json = Any
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}

_PARTS = json.loads(Path(__file__).with_name("odd_parts.json").read_text())
NAMES, FIELDS, ARGUMENTS, PATTERNS, FORMATS, DIALECTS, DEFINITIONS, ODD, WRONG, WORTH = (
    _PARTS[name]
    for name in (
        "names", "fields", "arguments", "patterns", "formats", "dialects", "definitions", "odd", "wrong", "worth"
    )
)  # fmt: skip
"""Odd names of tools, fields and arguments; patterns; formats; dialects; definitions; schemas that are odd, and some
that no dialect, or only some dialects, take for schemas; values of arguments."""

WIDE = 1_000
DEEP = 1_000


def odd_list(random: Random) -> str:
    """Return an odd tools/list result as JSON."""
    tools = [_tool(random) for _ in range(random.choice((1, 1, 2, 3, 5)))]
    if random.random() < 0.5:
        tools += _family(random)
    if random.random() < 0.1:
        tools.append(dict(random.choice(tools)))
    if random.random() < 0.02:
        tools.append({"name": "surrogate_\ud800", "inputSchema": {"type": "object"}})
    random.shuffle(tools)
    text = json.dumps({"tools": tools})
    if random.random() < 0.02:
        deep = '{"type":"object","properties":{"part":' * DEEP + "{}" + "}}" * DEEP
        text = text.replace('"properties": {', '"properties": {"deep": ' + deep + ", ", 1)
    return text


def _family(random: Random) -> list[Schema]:
    """Return tools that make, show, list, change and remove one kind of record, with odd fields."""
    fields = {name: _value(random) for name in random.sample(FIELDS[1:], random.randint(1, 3))}
    kinds: Json = (TEXT, TEXT, {"type": "integer"}, {"type": "boolean"}, {"type": "object"}, _value(random))
    named, cursor = random.choice(kinds), random.choice((TEXT, {}, {"type": "integer"}))
    key = random.choice(("id", "id", "thing_id", "name"))
    record = {"type": "object", "properties": {key: named, **fields}, "required": [key, *random.sample([*fields], 1)]}
    record |= random.choice(({}, {}, {"additionalProperties": False}, _part(random)))
    reference = {"type": "object", "properties": {key: named}, "required": [key]}
    paged = {"type": "object", "properties": {"cursor": cursor, "limit": {"type": "integer"}}}
    listed = {"things": {"type": "array", "items": record}, "next_cursor": {"type": ["string", "null"]}}
    rows = {"type": "object", "required": ["things"], "properties": {**listed, "total": {"type": "integer"}}}
    family = [
        {"name": "create_thing", "inputSchema": {"type": "object", "properties": fields}, "outputSchema": record},
        {"name": "get_thing", "inputSchema": reference, "outputSchema": record},
        {"name": "list_things", "inputSchema": paged, "outputSchema": rows},
        {
            "name": "update_thing",
            "inputSchema": {**reference, "properties": {**fields, key: named}},
            "outputSchema": record,
        },
        {"name": "delete_thing", "inputSchema": reference},
    ]
    return [_dressed(tool, random) for tool in random.sample(family, random.randint(2, len(family)))]


def _tool(random: Random) -> Schema:
    tool: Schema = {"name": random.choice(NAMES), "inputSchema": _object(random, ARGUMENTS)}
    if random.random() < 0.75:
        tool["outputSchema"] = _object(random, FIELDS) if random.random() < 0.8 else _value(random)
    if random.random() < 0.3:
        tool["description"] = random.choice(
            ("", "Does it.", "Lists {things}; `one of` 'a', 'b'.", "\u202e\u200b", "Get 🛒")
        )
    return _dressed(tool, random)


_DRESSES: tuple[Callable[[Schema], Schema], ...] = (
    lambda tool: {**tool, "description": "All of it. " * 95_000},
    lambda tool: {**tool, "title": {"en": "odd"}},
    lambda tool: {**tool, "annotations": {"readOnlyHint": "yes"}},
    lambda tool: {**tool, "annotations": {"readOnlyHint": True, "odd": [1]}},
    lambda tool: {**tool, "annotations": []},
    lambda tool: {**tool, "inputSchema": {k: v for k, v in tool["inputSchema"].items() if k != "type"}},
    lambda tool: {k: v for k, v in tool.items() if k != "inputSchema"},
    lambda tool: {**tool, "inputSchema": {"type": "object", "properties": {f"p{at}": TEXT for at in range(WIDE)}}},
    lambda tool: {**tool, "outputSchema": {"type": "object", "properties": {f"p{at}": TEXT for at in range(WIDE)},
                                           "required": [f"p{at}" for at in range(WIDE)]}},
    lambda tool: {**tool, "outputSchema": True},
    lambda tool: {**tool, "outputSchema": []},
    lambda tool: {**tool, "outputSchema": None},
    lambda tool: {**tool, "name": 5},
    lambda tool: {**tool, "_meta": "x"},
)  # fmt: skip
_DRESSED = 0.03


def _dressed(tool: Schema, random: Random) -> Schema:
    """Return the tool, sometimes with an odd part besides its names and schemas."""
    tool = {word: _with_definitions(value) if _refers(value) else value for word, value in tool.items()}
    return random.choice(_DRESSES)(tool) if random.random() < _DRESSED else tool


def _object(random: Random, names: list[str]) -> Schema:
    """Return the schema of an object with odd parts."""
    chosen = random.sample(names, random.choice((0, 1, 1, 2, 3, 4)))
    parts = {name: _value(random) for name in chosen}
    schema: Schema = {"type": "object", "properties": parts}
    if random.random() < 0.6:
        schema["required"] = random.sample(chosen, random.randint(0, len(chosen)))
    if random.random() < 0.05:
        schema["required"] = [*schema.get("required", []), "elsewhere"]
    if random.random() < 0.2:
        schema["additionalProperties"] = random.choice((False, False, True, {"type": "integer"}))
    if random.random() < 0.15:
        schema |= {word: value for word, value in _part(random).items() if word not in schema}
    if random.random() < 0.08:
        schema["$schema"] = random.choice(DIALECTS)
    return _with_definitions(schema) if random.random() < 0.1 else schema


def _refers(value: Json) -> bool:
    text = json.dumps(value)
    return isinstance(value, dict) and ('"$ref"' in text or '"$dynamicRef"' in text)


def _with_definitions(schema: Schema) -> Schema:
    return {**schema, "$defs": DEFINITIONS, "definitions": {"old": {"type": "number", "minimum": 0}}}


def _part(random: Random) -> Schema:
    """Return odd keywords for an object."""
    odd: list[Schema] = [
        schema
        for schema in ODD
        if isinstance(schema, dict) and cast("Schema", schema).get("type", "object") == "object"
    ]
    return random.choice(odd)


def _value(random: Random, depth: int = 0) -> Json:
    """Return the schema of a value: usual or odd, alone or within another one."""
    drawn = random.random()
    if drawn < 0.004:
        return random.choice(WRONG)
    if drawn < 0.3:
        return random.choice((TEXT, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}))
    if drawn < 0.4:
        return {"type": "string", "pattern": random.choice(PATTERNS)}
    if drawn < 0.45:
        return {"type": "string", "format": random.choice(FORMATS)}
    if drawn < 0.8 or depth > 2:
        return random.choice(ODD)
    inner = _value(random, depth + 1)
    return random.choice((
        {"type": "array", "items": inner},
        {"type": "array", "items": inner, "minItems": 1},
        {"type": "object", "properties": {"part": inner}, "required": ["part"]},
        {"anyOf": [inner, {"type": "null"}]},
        {"oneOf": [inner, _value(random, depth + 1)]},
        {"allOf": [inner, _value(random, depth + 1)]},
        {"not": inner},
        {"type": "object", "additionalProperties": inner},
    ))  # fmt: skip


def odd_arguments(tool: Schema, random: Random) -> Schema:
    """Return arguments of a call: mostly as the inputSchema asks for, else wrong, empty or unknown ones."""
    drawn = random.random()
    if drawn < 0.1:
        return {}
    declared = cast("Schema", tool["inputSchema"].get("properties") or {})
    if drawn < 0.25:
        return {name: random.choice(WORTH) for name in random.sample([*declared], min(len(declared), 3))}
    given = _fitting(tool)(random.random())
    paging = [name for name in declared if name in {"cursor", "page_token", "offset", "page", "limit"}]
    if paging and random.random() < 0.5:
        given[random.choice(paging)] = random.choice(WORTH)
    if drawn > 0.95:
        given[random.choice(ARGUMENTS)] = random.choice(WORTH)
    return given


def _fitting(tool: Schema) -> Callable[[float], Schema]:
    """Return a maker of arguments that mostly fit the inputSchema."""
    schema = {word: value for word, value in expanded(tool["inputSchema"]).items() if word != "minProperties"}
    schema["properties"] = dict([*schema.get("properties", {}).items()][:10])
    make = value_maker("agent", "", schema)

    def made(seed: float) -> Schema:
        value = make(chance_of(seed), {}, Moment.unknown())
        return cast("Schema", value if isinstance(value, dict) else {})

    return made
