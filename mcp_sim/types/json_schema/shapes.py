"""Read the shape of a value from its JSON Schema: types, properties, items, constants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from mcp_sim.types.json_values import Json, Record

SEARCHED = frozenset({
    "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "not", "contains", "propertyNames", "patternProperties",
    "maxContains", "unevaluatedItems", "unevaluatedProperties", "then", "else",
})  # fmt: skip
"""Keywords whose values are found by drawing and validating."""

LIMITS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "uniqueItems", "items", "prefixItems", "properties", "required", "additionalProperties",
    "minProperties", "maxProperties", "dependentRequired", *SEARCHED,
})  # fmt: skip
"""Keywords that may exclude some values of an enum."""

KEYWORDS = LIMITS | {
    "type", "enum", "const", "minContains", "additionalItems", "dependencies", "$schema", "$id", "$ref", "$anchor",
    "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$comment", "$defs",
    "definitions", "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
    "nullable", "format", "contentEncoding", "contentMediaType", "contentSchema",
}  # fmt: skip
"""All keywords of JSON Schema, and those that other formats of schemas add."""


SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMA_MAPS = ("properties", "$defs", "definitions", "dependentSchemas", "patternProperties")
SCHEMA_PARTS = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
)  # fmt: skip
"""Keywords whose values are lists of schemas, schemas by name, and schemas."""


def as_object(value: Json) -> Record:
    """Return the value if it is an object, else an empty one."""
    return cast("Record", value) if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Return the value if it is a list, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def types_of(schema: Record) -> tuple[str, ...]:
    """Return the JSON types that an expanded schema allows; empty if it does not say."""
    declared: Json = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(str(name) for name in as_list(declared))
    if "properties" in schema:
        return ("object",)
    if "items" in schema:
        return ("array",)
    return tuple(dict.fromkeys(type_name(value) for value in constants(schema)))


def constants(schema: Record) -> list[Json]:
    """Return the only values that the schema allows, by `const` or `enum`; empty if it does not list them."""
    return [schema["const"]] if "const" in schema else as_list(schema.get("enum"))


def type_name(value: Json) -> str:
    """Return the JSON Schema type of a value; an integer is `integer`."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def main_type(schema: Record) -> str:
    """Return the first type that is not null; '' if the schema does not say."""
    return next((name for name in types_of(schema) if name != "null"), "")


def is_nullable(schema: Record) -> bool:
    """Whether null is declared as a type."""
    return "null" in types_of(schema)


def takes_null(schema: Record) -> bool:
    """Whether null is declared as a type, or no types are declared."""
    return not types_of(schema) or is_nullable(schema)


def properties(schema: Record) -> dict[str, Record]:
    """Return the declared properties of an object schema, by name."""
    declared = as_object(schema.get("properties"))
    return {name: as_object(value) for name, value in declared.items()}


def property_of(schema: Record, name: str) -> Record:
    """Return the schema of a property; {} if it is not declared. Its cost does not depend on the other properties."""
    return as_object(as_object(schema.get("properties")).get(name))


def required(schema: Record) -> frozenset[str]:
    """Return the names of the required properties."""
    return frozenset(str(name) for name in as_list(schema.get("required")))


def required_among(names: Iterable[str], schema: Record) -> list[str]:
    """Return those of the names that are required properties, in their order."""
    needed = required(schema)
    return [name for name in names if name in needed]


def items(schema: Record) -> Record:
    """Return the schema of an array's items."""
    return as_object(schema.get("items"))


def map_of(schema: Record) -> Record:
    """Return the schema of the values of a mapping without declared names; {} for anything else."""
    return {} if properties(schema) else as_object(schema.get("additionalProperties"))


def is_open(schema: Record) -> bool:
    """Whether a schema declares an object (or null) without its contents, as frameworks do for any mapping."""
    declared = {name for name, value in schema.items() if value not in ({}, [], None)}
    return (
        main_type(schema) == "object"
        and declared <= {"type", "additionalProperties", "title", "description"}
        and (schema.get("additionalProperties", True) in (True, {}))
    )


def is_rows(schema: Record) -> bool:
    """Whether it is an array of objects."""
    return main_type(schema) == "array" and main_type(items(schema)) == "object"


def at(schema: Record, path: str) -> Record:
    """Return the schema at a dotted path of properties; '' is the whole, {} is returned for a missing one."""
    for segment in path.split(".") if path else ():
        schema = property_of(schema, segment)
    return schema


def schema_of(value: Json) -> Record:
    """Return a schema that describes an example: its types, and everything in it required."""
    match value:
        case dict():
            parts = {name: schema_of(inner) for name, inner in cast("Record", value).items()}
            return {"type": "object", "properties": parts, "required": [*parts]}
        case list():
            first = next(iter(as_list(cast("Json", value))), None)
            return {"type": "array", "items": {} if first is None else schema_of(first)}
        case None:
            return {}
        case _:
            return {"type": type_name(value)}


def fitting_type(value: Json, schema: Record) -> bool:
    """Whether the value is of a type that the schema allows. An integer is a number."""
    allowed = types_of(schema)
    return not allowed or type_name(value) in allowed or (type_name(value) == "integer" and "number" in allowed)
