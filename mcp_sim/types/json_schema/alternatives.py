"""Read the properties of an object schema that declares them in alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, main_type, properties, required

_ALTERNATIVES = ("anyOf", "oneOf")
_COMBINED = frozenset((*_ALTERNATIVES, "allOf", "$ref"))


def with_alternatives(schema: Record) -> Record:
    """Return an object schema with the properties of all its alternatives, and without the alternatives.

    A property is required if all alternatives require it. References and `allOf` are merged in. The result allows
    more than the schema does: it says what may be given, not which properties exclude each other.
    """
    if _COMBINED.isdisjoint(schema):
        return schema
    merged = expanded(schema)
    for word in _ALTERNATIVES:
        forms = [as_object(form) for form in as_list(merged.get(word))]
        if any(map(properties, forms)):
            merged = _united({name: value for name, value in merged.items() if name != word}, forms)
    return merged


def _united(common: Record, forms: Sequence[Record]) -> Record:
    """Return the schema of what is common to all forms, with the properties of each."""
    properties_of_common = properties(common)
    names = dict.fromkeys(name for form in forms for name in properties(form) if name not in properties_of_common)
    parts = {name: _either([properties(form)[name] for form in forms if name in properties(form)]) for name in names}
    always = frozenset[str].intersection(*map(required, forms))
    needed = [name for name in {**properties_of_common, **parts} if name in required(common) | always]
    return {**common, "properties": {**properties_of_common, **parts}, "required": needed}


def _either(parts: Sequence[Record]) -> Record:
    """Return a schema for the values that any of these allows: all constants, else the first of one type."""
    values: list[Json] = [value for schema in parts for value in constants(schema)]
    if values and all(map(constants, parts)):
        rest = {word: value for word, value in parts[0].items() if word != "const"}
        return {**rest, "enum": [value for at, value in enumerate(values) if value not in values[:at]]}
    return parts[0] if len({main_type(schema) for schema in parts}) == 1 else {"anyOf": [*parts]}
