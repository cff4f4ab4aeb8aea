"""Keys of entities: the key field, the format of its values, and entities without an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.infer.argument_names import OPTIONS
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.keys import key_argument
from mcp_sim.types import Key
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import snake, words

_GENERATED_NAMES = frozenset(
    {"id", "key", "number", "code", "no", "ref", "reference", "identifier", "uuid", "sku", "pk"}
)
_KEY_SUFFIXES = ("id", "uuid", "key", "number", "code", "reference")
_ONE = frozenset({"get", "update", "delete"})
_SCALAR = frozenset({"string", "integer", "number", ""})


def choose_key(entity: str, declared: Entity | None, fields: Mapping[str, Field], keys: Sequence[str]) -> str:
    """Return the field that identifies a record. `keys` are the arguments by which tools name one."""
    if declared is not None and (declared.key != "id" or "id" in declared.fields):
        return declared.key
    own = (entity, entity.rsplit("_", 1)[-1])
    if not fields:
        return next((key for key in keys if not snake(key).endswith("id") and snake(key) not in own), "id")
    named = [f"{name}_{ending}" for name in own for ending in _KEY_SUFFIXES]
    wanted = ("id", *named, *map(snake, keys), "uuid", "key", "identifier", "slug", "number")
    return _first_scalar(fields, wanted) or "id"


def _first_scalar(fields: Mapping[str, Field], wanted: Iterable[str]) -> str | None:
    by_name = {snake(name): name for name, field in fields.items() if main_type(field.schema) in _SCALAR}
    return next((by_name[name] for name in wanted if name in by_name), None)


def is_natural(key: str, made: Sequence[str]) -> bool:
    """Whether the key is a name or a path that callers choose."""
    return key in made and not is_generated_key(key)


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
    return not {*words(name)}.isdisjoint(_GENERATED_NAMES)


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
