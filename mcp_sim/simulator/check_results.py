"""Warn about schemas that no value fits, slots of templates without a value, and causes that no failure has.

Schemas take as long as reading the tools. A client that starts a server gets their list before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import cast

from mcp_sim.plans.infer import Inferred
from mcp_sim.simulator.inferred_tools import ByText
from mcp_sim.spec.lint import check_values, schema_parts
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.spec.yaml12 import Path
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.error_templates import CAUSES, FAILURE_SLOTS, slots_in
from mcp_sim.types.errors import did_you_mean, nearest
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.satisfiability import NoInstance, impossible_parts, is_satisfiable
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.result_templates import RESULT_SLOTS, SLOT, replaced_path

_TEMPLATES = frozenset({"errors", "sim"})
"""Parts of a tool spec with templates."""

_RESULTS = frozenset({"result", "choices"})
"""Parts of a corrected plan with templates of results."""


def check_templates(specs: Iterable[Spec], inferred: Inferred) -> None:
    """Note misspelt slots and causes in `errors` and `result`.

    Programs fail with causes and slots of their own, so errors of their specs are not checked.
    """
    for spec in specs:
        if spec.root is None or _TEMPLATES.isdisjoint(spec.root.mapping):
            continue
        names = {id_: frozenset(_properties(tool.input_schema)) for id_, tool in spec.tools.items()}
        every = frozenset[str]().union(*names.values())
        if spec.program is None:
            keys = {f"{entity.rpartition('.')[2]}_id" for entity in inferred.entities}
            _check_errors(spec.root.at("errors"), FAILURE_SLOTS | keys | every)
            for id_, tool in spec.tools.items():
                _check_errors(spec.root.at("sim", tool.name, "errors"), FAILURE_SLOTS | keys | names[id_])
        plans = {tool.name: inferred.plans.get(id_) for id_, tool in spec.tools.items()}
        corrected = [spec.root.at("sim", name) for name, plan in plans.items() if plan and plan.backend == "records"]
        templated = [sim for sim in corrected if not _RESULTS.isdisjoint(sim.mapping)]
        if templated:
            known = every | RESULT_SLOTS | _fields(inferred, spec.tools.values())
            for sim in templated:
                _check_results(sim, known)


def _properties(schema: Json) -> Iterator[str]:
    """Yield the names of all properties of a schema, at any depth."""
    for _, subschema in schema_parts(expanded(as_object(schema))):
        yield from as_object(subschema.get("properties"))


def _fields(inferred: Inferred, tools: Iterable[Tool]) -> frozenset[str]:
    """Return all fields that records may have."""
    fields = {name for entity in inferred.entities.values() for name in (entity.key, *entity.fields)}
    fields |= {name for rows in inferred.records.values() for row in rows[:1] for name in row}
    for plan in inferred.plans.values():
        for variant in plan.variants:
            fields |= {*variant.sets.values(), *variant.fixed, *(rule.field for rule in variant.filters.values())}
    shown = {name for tool in tools for name in _properties(tool.output_schema)}
    return frozenset(segment for name in fields | shown for segment in name.split("."))


# errors ---------------------------------------------------------------------------------------------------------------


def _check_errors(errors: Place, known: frozenset[str]) -> None:
    for kind, template in errors.mapping.items():
        near = nearest(kind, CAUSES) if kind not in CAUSES else None
        if near is not None:
            errors.at(kind).warning(f"no failure has the cause {kind!r}; did you mean {near!r}?")
        for slot in sorted(slots_in(template) - known if kind in CAUSES else ()):
            errors.at(kind).warning(f"unknown slot {{{slot}}}{did_you_mean(slot, known)}")


# results --------------------------------------------------------------------------------------------------------------


def _check_results(sim: Place, known: frozenset[str]) -> None:
    """Note slots that are like a known name, and not known. Others may be fields of records that are given later."""
    result = sim.at("result")
    for template in result.items or [result]:
        for place, slot in _slots(template):
            near = nearest(slot, known) if slot not in known else None
            if near is not None:
                place.warning(f"unknown slot {{{slot}}}; did you mean {near!r}?")
    for value in sim.at("choices").mapping:
        _check_results(sim.at("choices", value), known)


def _slots(template: Place) -> Iterator[tuple[Place, str]]:
    """Yield the names of the slots of a result template, each with its place."""
    paths = [(("when", path), path) for path in template.at("when").mapping]
    keys = ("text", "json") if template.is_mapping else ()
    paths += [(where, path) for key in keys for where, path in _paths(template.value.get(key), (key,))]
    paths += [] if template.is_mapping else [*_paths(template.value, ())]
    for where, path in paths:
        names = path.split(".")
        yield template.at(*where), names[1] if names[0] in {"rows", "before", "arguments"} and names[1:] else names[0]


def _paths(value: Json, where: Path) -> Iterator[tuple[Path, str]]:
    """Yield the paths in the slots of a document, each with its place."""
    if isinstance(value, str):
        yield from ((where, match[1]) for match in SLOT.finditer(value))
    for index, item in enumerate(as_list(value)):
        yield from _paths(item, (*where, index))
    body = as_object(value)
    if path := replaced_path(body):
        yield where, path
    for name, item in cast("Mapping[str, Json]", body).items():
        yield from _paths(item, (*where, name))


def check_schemas(specs: Iterable[Spec]) -> None:
    """Note parts of schemas that no value fits, and tools that no call can answer.

    It is an error if no result is valid, else a warning.
    """
    for spec in specs:
        for id_, tool in spec.tools.items():
            place = spec.places[id_]
            check_values(place.at("inputSchema"), tool.name, is_result=False)
            if tool.output_schema is None:
                continue
            place, schema = place.at("outputSchema"), tool.output_schema
            check_values(place, tool.name, is_result=True)
            is_possible = is_satisfiable(schema)
            if is_possible is False:
                place.error(f"no value fits in {tool.name}: {impossible_parts(schema)[()]}")
            elif is_possible is None and (failure := _search_result(ByText(repr(schema), schema))) is not None:
                place.warning(f"no valid result of {tool.name} is generated, so that its calls crash: {failure}")


@lru_cache(maxsize=256)
def _search_result(schema: ByText[Record]) -> str | None:
    """Return why a search finds no valid result, None if it finds one."""
    from mcp_sim.generate.instances import Instances  # noqa: PLC0415 (most tools are listed sooner without it)

    try:
        Instances(schema.value).nearest()
    except NoInstance as none:
        return str(none)
    return None
