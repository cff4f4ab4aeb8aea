"""Keys of entities: the key field, the format of its values, and entities without an id."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.infer.arguments import OPTIONS
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.keys import key_argument
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

_GENERATED = terms("fields.generated_key")
_ENDINGS, _OTHERS = ordered("fields.key_ending"), ordered("fields.other_key")
_ONE = frozenset({"get", "update", "delete"})
_SCALAR = frozenset({"string", "integer", "number", ""})


def choose_key(
    entity: str, declared: Entity | None, fields: Mapping[str, Field], feature_list: Iterable[ToolFeatures]
) -> str:
    """Return the field that identifies a record. The tools are those of the entity; some name one record."""
    if declared is not None and (declared.key != "id" or "id" in declared.fields):
        return declared.key
    own = (entity, entity.rsplit("_", 1)[-1])
    asked = (features.key_argument("id") for features in feature_list if features.verb in _ONE)
    keys = [name for name in asked if name is not None]
    if not fields:
        return next((key for key in keys if not snake(key).endswith("id") and snake(key) not in own), "id")
    by_name = {snake(name): name for name, field in fields.items() if main_type(field.schema) in _SCALAR}
    wanted = ("id", *(f"{name}_{ending}" for name in own for ending in _ENDINGS), *map(snake, keys), *_OTHERS)
    return next((by_name[name] for name in wanted if name in by_name), "id")


def key_schemas(groups: Mapping[str, Sequence[ToolFeatures]], entities: Iterable[str]) -> dict[str, Record]:
    """Return the schemas of the keys of entities, as the arguments that name records have them."""
    type_of: dict[str, str] = {}
    types_on: dict[str, set[str]] = defaultdict(set)
    for features in (one for mine in groups.values() for one in mine):
        for name, part in properties(features.input).items():
            if last_word(name) == "id":
                types_on[features.tool.server].add(main_type(part))
                type_of[snake(name)] = type_of.get(snake(name)) or main_type(part)
    return {name: _key_schema(groups.get(name, ()), type_of.get(f"{name}_id"), types_on) for name in entities}


def _key_schema(
    feature_list: Sequence[ToolFeatures], named_type: str | None, types_on: Mapping[str, set[str]]
) -> Record:
    """Return the schema of the argument that names a record, with an example if there is one.

    Without such an argument, ids are integers if all ids on the same servers are.
    """
    named = ((one, one.key_argument("id")) for one in feature_list if one.verb in _ONE)
    own = [properties(one.input).get(name, {"type": "string"}) for one, name in named if name is not None]
    if own:
        return next((schema for schema in own if find_example_id(str(schema.get("description", "")))), own[0])
    kinds = {kind for one in feature_list for kind in types_on.get(one.tool.server, ())}
    return {"type": named_type or ("integer" if kinds == {"integer"} else "string")}


def key_like(declared: Entity | None, key: Field, seen: Sequence[Key], entity: str) -> Key | None:
    """Return an example id that new ids follow: declared, seen, or from the schema. None if ids have another format."""
    if declared is not None and declared.key_like is not None:
        return declared.key_like
    schema = key.schema
    examples = [
        one for one in (*seen, *schema.get("examples", ()), schema.get("example"), schema.get("default")) if one
    ]
    if examples and isinstance(examples[0], str | int):
        return examples[0]
    if main_type(schema) in {"integer", "number"}:
        return max(1, int(schema.get("minimum", 1)))
    if schema.keys() & {"format", "pattern"} or constants(schema) or not is_generated_key(key.name):
        return None
    return find_example_id(schema.get("description", "")) or f"{entity}_{1:05d}"


def find_example_id(text: str) -> str | None:
    """Find an id given as an example: `e.g. 'TSK-0001'`, `(e.g., 7)`."""
    found = re.search(
        r"(?:e\.g\.|for example|such as|like|example:)[ ,:]*[\"'`]?((?:[A-Za-z#]{1,40}+[-_#]?)?\d+)\b(?![.\d-])",
        text,
        re.IGNORECASE,
    )
    return found[1] if found else None


def is_generated_key(name: str) -> bool:
    """Whether a key is an id or a number, which follow each other, rather than a name or a path."""
    return not _GENERATED.isdisjoint(words(name))


def find_naming_arguments(feature_list: Sequence[ToolFeatures], keys: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the arguments that name the record, for each tool about one record that takes no key.

    They are what all such tools of an entity require. A delete that is the only such tool counts too.
    """
    keyless = group_by_entity(features for features in feature_list if _lacks_key(features, keys))
    found: dict[str, frozenset[str]] = {}
    for mine in keyless.values():
        shared = frozenset[str].intersection(*(_required_scalars(features) for features in mine))
        verbs = [features.verb for features in mine]
        if shared and (verbs == ["delete"] or (len(mine) > 1 and {"update", "delete"} & {*verbs})):
            found |= {features.tool.id: shared for features in mine}
    return found


def _lacks_key(features: ToolFeatures, keys: Mapping[str, str]) -> bool:
    """Whether a tool is about one record, and no argument is its key."""
    is_named = features.declared_key is not None or features.item_arguments.each is not None
    if features.verb not in _ONE or features.singleton is not None or is_named:
        return False
    key = keys.get(features.entity, "id")
    name, score = key_argument(features.verb, features.entity, key, features.input)
    return name is None or (score < 2 and not f"_{snake(key)}".endswith(f"_{snake(name)}"))


def _required_scalars(features: ToolFeatures) -> frozenset[str]:
    parts = properties(features.input)
    return frozenset(
        name
        for name in required(features.input)
        if main_type(parts.get(name, {})) in _SCALAR and snake(name) not in OPTIONS
    )
