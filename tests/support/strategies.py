"""Hypothesis strategies: tool specs as a vendor might publish them, and calls of their tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from mcp_sim.plans.infer import infer
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import world_models
from mcp_sim.types.scenario import GivenRecords, Scenario, ServerSpec, WorldModelEntry

Json = Any
Schema = dict[str, Any]

NOUNS = {
    "invoice": "invoices", "ticket": "tickets", "company": "companies", "person": "people", "category": "categories",
    "sales_order": "sales_orders", "box": "boxes", "project": "projects", "news_item": "news_items",
}  # fmt: skip
WORDS = ("title", "email", "phone", "notes", "city", "price", "quantity", "active", "due_date", "tags", "priority",
         "address", "website", "score", "reference", "kind", "started_at")  # fmt: skip
KEYS: tuple[Schema, ...] = ({"type": "string"}, {"type": "integer"}, {"type": "string", "format": "uuid"})
NOW = datetime(2031, 5, 17, 8, 30, tzinfo=UTC)

TEXTS: tuple[Schema, ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 3, "maxLength": 9},
    {"type": "string", "minLength": 25, "maxLength": 40},
    *({"type": "string", "format": form} for form in ("email", "date", "date-time", "uri", "uuid")),
    {"type": "string", "enum": ["open", "in progress", "closed"]},
    *(
        {"type": "string", "pattern": pattern}
        for pattern in (r"^[A-Z]{2}-\d{4}$", r"^(north|south)\d+$", r"^[a-f0-9]{8}$")
    ),
)
PARTS = ("street", "amount", "unit", "since")


@st.composite
def plain(draw: st.DrawFn) -> Schema:
    """Draw the schema of a text, a number or a flag."""
    kind = draw(st.sampled_from(("text", "text", "integer", "number", "boolean")))
    if kind == "text":
        return draw(st.sampled_from(TEXTS))
    if kind == "boolean":
        return {"type": "boolean"}
    low = draw(st.integers(-50, 50))
    return {"type": kind, "minimum": low, "maximum": low + draw(st.integers(1, 1000))}


@st.composite
def field_schemas(draw: st.DrawFn) -> Schema:
    """The schema of a field: mostly a plain one, now and then a list or an object."""
    kind = draw(st.sampled_from(("plain", "plain", "plain", "array", "object")))
    if kind == "plain":
        return draw(plain())
    if kind == "array":
        return {"type": "array", "items": draw(plain()), "maxItems": draw(st.integers(1, 4))}
    names: list[str] = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3, unique=True))
    parts = {name: draw(plain()) for name in names}
    needed = sorted(parts) if draw(st.booleans()) else []
    return {"type": "object", "properties": parts, "required": needed, "additionalProperties": False}


@dataclass(frozen=True)
class Entity:
    """A generated entity: its noun, key schema, fields, which of them must be there, and what it links to."""

    noun: str
    key: Schema
    fields: dict[str, Schema]
    required: frozenset[str]
    nullable: frozenset[str]
    link: str | None
    closed: bool

    @property
    def key_argument(self) -> str:
        return f"{self.noun}_id"

    @property
    def record(self) -> Schema:
        parts = {name: _nullable(field) if name in self.nullable else field for name, field in self.fields.items()}
        needed = ["id", *sorted(self.required)]
        return {"type": "object", "properties": {"id": self.key, **parts}, "required": needed} | (
            {"additionalProperties": False} if self.closed else {}
        )


@st.composite
def entities(draw: st.DrawFn) -> list[Entity]:
    """One to three entities; a later one may link to an earlier one."""
    nouns: list[str] = draw(st.lists(st.sampled_from(sorted(NOUNS)), min_size=1, max_size=3, unique=True))
    chosen: list[Entity] = []
    for noun in nouns:
        names: list[str] = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6, unique=True))
        fields = {name: draw(field_schemas()) for name in names}
        link = draw(st.sampled_from([None, *chosen]))
        if link is not None:
            fields[link.key_argument] = link.key
        required = draw(st.sets(st.sampled_from(sorted(fields))))
        nullable = draw(st.sets(st.sampled_from(sorted(fields))))
        key = draw(st.sampled_from(KEYS))
        target = link.noun if link is not None else None
        chosen.append(Entity(noun, key, fields, frozenset(required), frozenset(nullable), target, draw(st.booleans())))
    return chosen


@st.composite
def tool_lists(draw: st.DrawFn) -> list[Schema]:
    """The tools of one server: create, get, list, update and delete for each entity, named in one of several styles."""
    style = draw(st.sampled_from(["{verb}_{noun}", "{verb}-{noun}", "{noun}_{verb}"]))
    wrapped = draw(st.booleans())
    return [tool for entity in draw(entities()) for tool in _tools(entity, style, wrapped=wrapped)]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario without faults over a generated tool list, with a few records of every entity."""
    return scenario_of(draw(tool_lists()), seed=draw(st.integers(0, 2**32)), count=draw(st.integers(0, 12)))


def scenario_of(definitions: list[Schema], *, seed: int = 1, count: int = 5) -> Scenario:
    """Return a scenario without faults over a tool list, as loaded from a plain tools/list result."""
    tools = {tool["name"]: Tool(tool["name"], "generated", tool) for tool in definitions}
    inferred = infer(tools, {}, {}, ())
    model = WorldModelEntry(world_models["builtin"](), "builtin")
    return Scenario(
        name="generated",
        domain=Domain(tools, inferred.entities, inferred.plans, "", NOW),
        servers={"generated": ServerSpec("generated", tuple(tools))},
        world_models=(model,),
        seed=seed,
        records={name: GivenRecords(count) for name in inferred.entities},
        now=NOW,
    )


def values(schema: Schema) -> st.SearchStrategy[Json]:
    """Values that a generated schema allows."""
    kind: Json = schema.get("type")
    if isinstance(kind, list):
        return st.none() | values({**schema, "type": kind[0]})
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match kind:
        case "string":
            return _strings(schema)
        case "integer":
            return st.integers(schema.get("minimum", -1000), schema.get("maximum", 1000))
        case "number":
            low, high = schema.get("minimum", -1000), schema.get("maximum", 1000)
            return st.integers(low, high) | st.floats(low, high, allow_nan=False).map(lambda value: round(value, 3))
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(values(schema["items"]), max_size=schema.get("maxItems", 4))
        case _:
            needed = {name: values(inner) for name, inner in schema["properties"].items() if name in schema["required"]}
            others = {name: values(inner) for name, inner in schema["properties"].items() if name not in needed}
            return st.fixed_dictionaries(needed, optional=others)


def _strings(schema: Schema) -> st.SearchStrategy[str]:
    if "pattern" in schema:
        pattern: re.Pattern[str] = re.compile(schema["pattern"].replace("$", r"\Z"), re.ASCII)
        return st.from_regex(pattern)
    formats: dict[str, st.SearchStrategy[str]] = {
        "email": st.sampled_from(["ada@vos.example", "x.y@z.example"]),
        "date": st.dates().map(lambda day: day.isoformat()),
        "date-time": st.datetimes(datetime(1980, 1, 1), datetime(2090, 1, 1)).map(  # noqa: DTZ001 (the Z is written)
            lambda moment: moment.replace(microsecond=0).isoformat() + "Z"
        ),
        "uri": st.just("https://vos.example/a"),
        "uuid": st.uuids().map(str),
    }
    short = st.text(
        st.characters(codec="utf-8", exclude_characters="\x00"),
        min_size=schema.get("minLength", 0),
        max_size=schema.get("maxLength", 12),
    )
    return formats.get(schema.get("format", ""), short)


def _nullable(schema: Schema) -> Schema:
    choices = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **choices}


def _tools(entity: Entity, style: str, *, wrapped: bool) -> list[Schema]:
    single, many = entity.noun, NOUNS[entity.noun]
    key = {entity.key_argument: entity.key}
    record: Schema = entity.record
    if wrapped:
        record = {"type": "object", "properties": {single: record}, "required": [single]}
    needed = sorted(entity.required & entity.fields.keys())
    filters = {
        name: field for name, field in entity.fields.items() if field["type"] in {"string", "boolean", "integer"}
    }
    page = {
        "type": "object",
        "properties": {
            many: {"type": "array", "items": entity.record},
            "total": {"type": "integer"},
            "next_cursor": {"type": ["string", "null"]},
        },
        "required": [many, "total", "next_cursor"],
    }
    deleted = {
        "type": "object",
        "properties": {"id": entity.key, "deleted": {"type": "boolean"}},
        "required": ["deleted"],
    }
    pages = {"limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}, "cursor": {"type": "string"}}

    def tool(verb: str, noun: str, arguments: Schema, required: list[str], output: Schema) -> Schema:
        name = style.format(verb=verb, noun=noun)
        schema = {"type": "object", "properties": arguments, "required": required, "additionalProperties": False}
        return {"name": name, "inputSchema": schema, "outputSchema": output}

    return [
        tool("create", single, entity.fields, needed, record),
        tool("get", single, key, [entity.key_argument], record),
        tool("list", many, {**filters, **pages}, [], page),
        tool("update", single, {**entity.fields, **key}, [entity.key_argument], record),
        tool("delete", single, key, [entity.key_argument], deleted),
    ]
