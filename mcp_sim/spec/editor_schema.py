"""JSON Schemas of documents for editors, with every registered kind."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from mcp_sim.spec.parts.scenario import (
    ExpectationKeys,
    PerturbationKeys,
    PresetDocument,
    ScenarioDocument,
    WorldModelKeys,
)
from mcp_sim.spec.parts.tool_spec import Root, ToolSpecDocument
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Kind, expectations, perturbations, triggers, world_models
from mcp_sim.types.kinds.registries import Registry
from mcp_sim.types.options import duration_text

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = "#/$defs/{model}"

_Keys: TypeAlias = Mapping[type[BaseModel], Record]


class DocumentSchema(GenerateJsonSchema):
    """Generates JSON Schemas with defaults as a document writes them."""

    def encode_default(self, dft: Any) -> Any:
        return duration_text(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def tool_spec_schema() -> Record:
    """Return the JSON Schema of a tool spec."""
    schema = ToolSpecDocument.model_json_schema(by_alias=True, schema_generator=DocumentSchema)
    return {"$schema": DIALECT, **_with_nulls(schema)}


def scenario_schema() -> Record:
    """Return the JSON Schema of a scenario."""
    return _with_entries(ScenarioDocument)


def preset_schema() -> Record:
    """Return the JSON Schema of a preset. Its entries must have ids."""
    schema = _with_entries(PresetDocument)
    schema["$defs"]["Perturbation"]["required"] = ["id"]
    return schema


def _with_entries(root: type[Root]) -> Record:
    """Return the JSON Schema of a document with entries of registered kinds."""
    families: tuple[Registry[Any], ...] = (perturbations, triggers, expectations, world_models)
    kinds = {registry.family: {name: registry[name] for name in registry.names()} for registry in families}
    models: list[type[BaseModel]] = [root, PerturbationKeys, ExpectationKeys, WorldModelKeys]
    models += [kind for family in kinds.values() for kind in family.values()]
    schemas, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template=_REFERENCE, schema_generator=DocumentSchema
    )
    defs: Record = definitions["$defs"]
    of: dict[type[BaseModel], Record] = {model: schemas[model, "validation"] for model in models}
    defs["Perturbation"] = _entry(of, defs, PerturbationKeys, kinds["perturbations"])
    defs["Expectation"] = _entry(of, defs, ExpectationKeys, kinds["expectations"])
    defs["WorldModel"] = _entry(of, defs, WorldModelKeys, kinds["world_models"])
    defs["When"] = _when(of, defs, kinds["triggers"])
    defs["Perturbation"]["properties"]["when"] = {"$ref": "#/$defs/When"}
    document = _definition(defs, of[root])
    choices = [{"enum": list(kinds["world_models"])}, {"$ref": "#/$defs/WorldModel"}]
    entries: Record = {
        "perturbations": {"items": {"$ref": "#/$defs/Perturbation"}},
        "expect": {"items": {"$ref": "#/$defs/Expectation"}},
        "world_model": {"anyOf": [*choices, {"type": "array", "items": {"anyOf": choices}, "minItems": 1}]},
    }
    for name in document["properties"].keys() & entries.keys():
        document["properties"][name] |= entries[name]
    return {"$schema": DIALECT, **_with_nulls(document), "$defs": _in_use(document, defs)}


def _with_nulls(document: Record) -> Record:
    """Let every optional key of a document be null, which means the same as leaving it out."""
    required, properties = document["required"], as_object(document["properties"])
    nullable = {
        name: body if name in required else {"anyOf": [body, {"type": "null"}]} for name, body in properties.items()
    }
    return {**document, "properties": nullable}


def _entry(of: _Keys, defs: Record, common: type[BaseModel], kinds: Mapping[str, type[Kind]]) -> Record:
    """Return the schema of an entry of a list: the common keys, and exactly one kind."""
    return {
        "type": "object",
        "properties": {**_definition(defs, of[common])["properties"], **_options(of, defs, kinds)},
        "additionalProperties": False,
        "oneOf": [{"required": [name]} for name in kinds],
    }


def _when(of: _Keys, defs: Record, kinds: Mapping[str, type[Kind]]) -> Record:
    """Return the schema of a `when` mapping: triggers and their combinators."""
    nested = {"type": "array", "items": {"$ref": "#/$defs/When"}, "minItems": 1}
    return {
        "type": "object",
        "description": "Triggers; all must hold.",
        "properties": {
            **_options(of, defs, kinds),
            "any": {**nested, "description": "At least one of these must hold."},
            "all": {**nested, "description": "All of these must hold; each has a counter of its own."},
            "not": {"$ref": "#/$defs/When"},
            "per": {
                "type": "string",
                "description": "Splits the counter: tool, entity or arguments.NAME.",
                "anyOf": [{"enum": ["tool", "entity"]}, {"pattern": "^arguments\\..+"}],
            },
        },
        "additionalProperties": False,
    }


def _options(of: _Keys, defs: Record, kinds: Mapping[str, type[Kind]]) -> Record:
    """Return what each kind accepts: a mapping of its options, null for no options, or its first field alone."""
    return {
        name: {"description": inspect.getdoc(kind) or "", "anyOf": _forms(kind, of[kind], defs)}
        for name, kind in kinds.items()
    }


def _forms(kind: type[Kind], options: Record, defs: Record) -> list[Json]:
    first = next(iter(kind.model_fields), None)
    alone = [] if first is None else [_definition(defs, options)["properties"][first]]
    if kind.takes_mapping:
        return alone
    has_required = any(field.is_required() for field in kind.model_fields.values())
    return [options, *alone, *([] if has_required else [{"type": "null"}])]


def _definition(defs: Record, reference: Record) -> Record:
    """Return the definition that a reference points to, or the schema itself."""
    return defs[reference["$ref"].removeprefix("#/$defs/")] if "$ref" in reference else reference


def _in_use(document: Record, defs: Record) -> Record:
    """Return the definitions that a schema refers to, directly or through others."""
    used: Record = {}
    pending = [document]
    while pending:
        for name in _references(pending.pop()):
            if name not in used:
                used[name] = defs[name]
                pending.append(defs[name])
    return dict(sorted(used.items()))


def _references(schema: Json) -> Iterator[str]:
    """Yield the names of the definitions that a schema refers to."""
    for item in as_list(schema):
        yield from _references(item)
    for key, item in as_object(schema).items():
        if key == "$ref":
            yield item.removeprefix("#/$defs/")
        else:
            yield from _references(item)
