"""Find the tools whose outputSchema no result satisfies, or none that can be generated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, cast

from mcp_sim.simulator.by_text import ByText
from mcp_sim.spec.lint import WITHOUT_END, has_finite_value
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.contradictions import NoInstance, contradiction
from mcp_sim.types.json_schema.expansion import resolve_reference
from mcp_sim.types.json_schema.shapes import LIMITS, as_object, constants, fitting_type, required, types_of

_OBVIOUS: Final = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "$ref", "anyOf", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "maxItems",
})  # fmt: skip
"""Keywords that are understood without a search."""
_HARD: Final = (LIMITS | {"additionalItems", "dependencies", "$dynamicRef", "$recursiveRef"}) - _OBVIOUS
_DEEPEST: Final = 30
_LONG: Final = 1_000


def check_results(specs: Iterable[Spec]) -> None:
    """Note the tools that no call can answer: an error if no result is valid, a warning if none was found."""
    for spec in specs:
        for id_, tool in spec.tools.items():
            if tool.output_schema is not None:
                _check_result(spec.places[id_].at("outputSchema"), tool.name, tool.output_schema)


def _check_result(place: Place, tool: str, schema: Record) -> None:
    if _has_obvious_value(schema, schema, 0):
        return
    proof, failure = _search_result(ByText(repr(schema), schema))
    if proof is not None:  # about values of the type that the keywords mean; without a `type` others may be valid
        place.error(f"no value fits in {tool}: {proof}", "warning" if failure is None else "error")
    elif failure is not None:
        place.warning(f"no valid result of {tool} is generated, so that its calls crash: {failure}")


@lru_cache(maxsize=256)
def _search_result(schema: ByText[Record]) -> tuple[str | None, str | None]:
    """Return why no result is valid, as far as that is proved, and why a search found none."""
    from mcp_sim.generate.instances import Instances  # noqa: PLC0415 (most tools are listed sooner without it)

    proof = contradiction(schema.value) or (None if has_finite_value(schema.value) else WITHOUT_END)
    try:
        Instances(schema.value).nearest()
    except NoInstance as none:
        return proof, str(none)
    return proof, None


def _has_obvious_value(schema: Json, root: Record, depth: int) -> bool:
    """Whether a schema has a value, as far as that is seen without a search. What is optional is left out."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema is True
    body = as_object(cast("Json", schema))
    words = frozenset(body.keys() & _OBVIOUS)
    if not _HARD.isdisjoint(body):
        return False
    for word, judge in _OF_WORD.items():
        if word in words:
            return words <= {word, "type"} and judge(body, root, depth)
    return any(_OF_TYPE.get(kind, _always)(body, root, depth) for kind in types_of(body) or ("null",))


def _has_target(schema: Record, root: Record, depth: int) -> bool:
    target = resolve_reference(root, str(schema["$ref"]))
    return "type" not in schema and bool(target) and _has_obvious_value(target, root, depth + 1)


def _has_branch(schema: Record, root: Record, depth: int) -> bool:
    return "type" not in schema and any(_has_obvious_value(subschema, root, depth + 1) for subschema in schema["anyOf"])


def _has_constant(schema: Record, _root: Record, _depth: int) -> bool:
    return any(fitting_type(value, schema) for value in constants(schema))


def _always(_schema: Record, _root: Record, _depth: int) -> bool:
    return True


def _has_object(schema: Record, root: Record, depth: int) -> bool:
    parts, others = as_object(schema.get("properties")), schema.get("additionalProperties", True)
    return all(_has_obvious_value(parts.get(name, others), root, depth + 1) for name in required(schema))


def _has_text(schema: Record, _root: Record, _depth: int) -> bool:
    return schema.get("minLength", 0) <= min(schema.get("maxLength", _LONG), _LONG)


def _has_number(schema: Record, _root: Record, _depth: int) -> bool:
    """Whether a number is bounded on one side at most, or has room between two bounds."""
    lows = [schema[word] for word in ("minimum", "exclusiveMinimum") if word in schema]
    highs = [schema[word] for word in ("maximum", "exclusiveMaximum") if word in schema]
    return not lows or not highs or max(lows) + 1 < min(highs)


_OF_TYPE = {"object": _has_object, "string": _has_text, "number": _has_number, "integer": _has_number}
_OF_WORD = {"$ref": _has_target, "anyOf": _has_branch, "enum": _has_constant, "const": _has_constant}
