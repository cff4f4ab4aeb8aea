"""Find the tools whose outputSchema no result satisfies, or none that can be generated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from mcp_sim.generate.instances import Instances, NoInstance
from mcp_sim.spec.lint import WITHOUT_END, has_finite_value
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.contradictions import contradiction

_HARD: Final = frozenset({
    "not", "oneOf", "allOf", "if", "pattern", "patternProperties", "propertyNames", "contains", "uniqueItems", "const",
    "minItems", "maxItems", "minLength", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
    "dependencies", "unevaluatedProperties", "unevaluatedItems", "multipleOf", "prefixItems", "additionalItems",
    "$dynamicRef", "$recursiveRef",
})  # fmt: skip
"""Keywords that may exclude what the other keywords of a schema seem to allow."""


def check_results(specs: Iterable[Spec]) -> None:
    """Note the tools that no call can answer: an error if no result is valid, a warning if none was found."""
    for spec in specs:
        for id_, tool in spec.tools.items():
            if tool.output_schema is not None:
                _check_result(spec.places[id_].at("outputSchema"), tool.name, tool.output_schema)


def _check_result(place: Place, tool: str, schema: Record) -> None:
    proof = contradiction(schema) or (None if has_finite_value(schema) else WITHOUT_END)
    if proof is None and not _is_hard(schema):
        return
    try:
        Instances(schema).nearest()
        found = None
    except NoInstance as none:
        found = str(none)
    if proof is not None:  # about values of the type that the keywords mean; without a `type` others may be valid
        place.error(f"no value fits in {tool}: {proof}", "warning" if found is None else "error")
    elif found is not None:
        place.warning(f"no valid result of {tool} is generated, so that its calls crash: {found}")


def _is_hard(schema: Json) -> bool:
    """Whether a schema, or one in it, has such a keyword."""
    if isinstance(schema, list):
        return any(map(_is_hard, cast("list[Any]", schema)))
    if not isinstance(schema, dict):
        return False
    body = cast("dict[str, Any]", schema)
    return not _HARD.isdisjoint(body) or body.get("additionalProperties") is False or any(map(_is_hard, body.values()))
