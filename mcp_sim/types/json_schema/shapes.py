"""What does a JSON Schema say about the shape of a value? It reads schemas; it judges no values (`validation` does)."""

from __future__ import annotations

from typing import cast

from mcp_sim.types import Json, Record


def as_object(value: Json) -> Record:
    """The value if it is an object, else an empty one."""
    return cast("Record", value) if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """The value if it is a list, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def types_of(schema: Record) -> tuple[str, ...]:
    """The JSON types that an expanded schema allows; empty where it does not say."""
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
    """The only values that the schema allows, by `const` or `enum`; empty where there are more."""
    return [schema["const"]] if "const" in schema else as_list(schema.get("enum"))


def type_name(value: Json) -> str:
    """The JSON Schema type of a value; an integer is `integer`."""
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
    """The first type that is not null; '' where the schema does not say."""
    return next((name for name in types_of(schema) if name != "null"), "")


def is_nullable(schema: Record) -> bool:
    """True where null is allowed in so many words."""
    return "null" in types_of(schema)


def takes_null(schema: Record) -> bool:
    """True where null is allowed, or types are not spoken of."""
    return not types_of(schema) or is_nullable(schema)


def properties(schema: Record) -> dict[str, Record]:
    """The declared properties of an object schema, by name."""
    declared = as_object(schema.get("properties"))
    return {name: as_object(part) for name, part in declared.items()}


def required(schema: Record) -> frozenset[str]:
    """The names of the properties that must be there."""
    return frozenset(str(name) for name in as_list(schema.get("required")))


def items(schema: Record) -> Record:
    """The schema of an array's items."""
    return as_object(schema.get("items"))


def map_of(schema: Record) -> Record:
    """The schema of the values of a mapping whose names nobody declares; {} for anything else."""
    return {} if properties(schema) else as_object(schema.get("additionalProperties"))


def is_open(schema: Record) -> bool:
    """Does a schema promise an object, and leave open what is in it: what frameworks say of any mapping?"""
    said = {name for name, part in schema.items() if part not in ({}, [], None)}
    return (
        schema.get("type") == "object"
        and said <= {"type", "additionalProperties", "title", "description"}
        and (schema.get("additionalProperties", True) in (True, {}))
    )


def line_parts(schema: Record) -> Record:
    """The properties of the objects that an array holds; of several forms, those of the first that says any."""
    line = items(schema) if main_type(schema) == "array" else {}
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(line.get(word))]
    return properties(next((form for form in (line, *forms) if properties(form)), line))


def is_rows(schema: Record) -> bool:
    """True for an array of objects."""
    return main_type(schema) == "array" and main_type(items(schema)) == "object"


def at(schema: Record, path: str) -> Record:
    """The schema at a dotted path of properties; '' is the whole, {} where there is none."""
    for part in path.split(".") if path else ():
        schema = properties(schema).get(part, {})
    return schema


def schema_of(value: Json) -> Record:
    """A schema that describes an example: its types, and everything in it required."""
    match value:
        case dict():
            parts = {name: schema_of(part) for name, part in cast("Record", value).items()}
            return {"type": "object", "properties": parts, "required": [*parts]}
        case list():
            first = next(iter(as_list(cast("Json", value))), None)
            return {"type": "array", "items": {} if first is None else schema_of(first)}
        case None:
            return {}
        case _:
            return {"type": type_name(value)}


def fitting_type(value: Json, schema: Record) -> bool:
    """Is the value of a type that the schema allows (an integer is a number)?"""
    allowed = types_of(schema)
    return not allowed or type_name(value) in allowed or (type_name(value) == "integer" and "number" in allowed)
