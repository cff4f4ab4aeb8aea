"""Keys of entities: the key field, the format of its values, and entities without an id."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from mcp_sim.infer.argument_names import OPTIONS
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.keys import key_argument
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import snake, words

_GENERATED_NAMES = frozenset(
    {"id", "key", "number", "code", "no", "ref", "reference", "identifier", "uuid", "sku", "pk"}
)
_KEY_SUFFIXES = ("id", "uuid", "key", "number", "code", "reference")
_ONE = frozenset({"get", "update", "delete"})
_SCALAR = frozenset({"string", "integer", "number", ""})


def choose_key(
    entity: str, declared: Entity | None, fields: Mapping[str, Field], keys: Sequence[str], made: Sequence[str] = ()
) -> str:
    """Return the field that identifies a record.

    `keys` are the arguments by which tools name one, `made` those of creates.
    """
    if declared is not None and (declared.key != "id" or "id" in declared.fields):
        return declared.key
    by_name = {snake(name): name for name in fields}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{name}_{ending}" for name in (entity, short) for ending in _KEY_SUFFIXES]
    wanted = ["id", *named, *(snake(key) for key in keys), "uuid", "key", "identifier", "slug", "number"]
    for name in wanted:
        if name in by_name and main_type(fields[by_name[name]].schema) in {"string", "integer", "number", ""}:
            return by_name[name]
    single_keys = [key for key in keys if "_or_" not in snake(key)]
    natural = [key for key in single_keys if not snake(key).endswith("id") and snake(key) not in {entity, short}]
    named = [one for key in (*natural, *keys) if (one := _name_in_create(entity, snake(key), made)) is not None]
    return (named or natural or ["id"])[0] if not fields else "id"


def _name_in_create(entity: str, key: str, made: Sequence[str]) -> str | None:
    """Find the argument of a create that becomes the key: `create_sheet(name)` before `delete_sheet(sheet_name)`."""
    short = entity.rsplit("_", 1)[-1]
    ending = key.removeprefix(f"{entity}_").removeprefix(f"{short}_")
    if ending.endswith("id"):
        return None
    names = (key, "name", f"{short}_name") if key in {entity, short} else (key, ending, f"{short}_{ending}")
    by_name = {snake(one): one for one in made}
    return next((by_name[name] for name in names if name in by_name), None)


def is_natural(key: str, made: Sequence[str]) -> bool:
    """Whether the key is a name or a path that callers choose."""
    return key in made and not is_generated_key(key)


def key_like(declared: Entity | None, key: Field, seen: Sequence[Key], entity: str) -> Key | None:
    """Return an example id that new ids follow: declared, seen, or from the schema. None if ids have another format."""
    if declared is not None and declared.key_like is not None:
        return declared.key_like
    schema = key.schema
    examples = [value for value in (*seen, *schema.get("examples", ()), schema.get("example"), schema.get("default"))
                if isinstance(value, str | int) and not isinstance(value, bool) and value != ""]  # fmt: skip
    if examples:
        return examples[0]
    if main_type(schema) in {"integer", "number"}:
        return max(1, int(schema.get("minimum", 1)))
    if "pattern" in schema:
        return _first_of_pattern(schema["pattern"])
    if schema.get("format") or constants(schema) or not is_generated_key(key.name):
        return None
    return find_example_id(schema.get("description", "")) or f"{entity}_{1:05d}"


def _first_of_pattern(pattern: str) -> str | None:
    """Return the first id of a pattern: con_00001 of `^con_[0-9]{5,}$`.

    None if the pattern is more than a prefix and a number.
    """
    found = re.fullmatch(r"\^?((?:\\?[\w# -])*?)(?:\\d|\[0-9\])(?:\{(\d+)(?:,\d*)?\}|[+*])?\$?", pattern)
    if not found or re.search(r"\\[A-Za-z]", found[1]):
        return None
    return found[1].replace("\\", "") + "1".zfill(int(found[2] or 1))


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


def find_scoped_entities(feature_list: Sequence[ToolFeatures], keys: Mapping[str, str]) -> set[str]:
    """Find the entities whose names are unique only within something: a path in a repository.

    Callers choose the name in a create, and every tool requires both.
    """
    found: set[str] = set()
    groups = group_by_entity(features for features in feature_list if features.singleton is None)
    for name, key in keys.items():
        mine = groups[name]
        ones = [features for features in mine if features.verb in _ONE]
        made = [features for features in mine if features.verb == "create"]
        if len(ones) < 2 or not made or any(features.declared_key or features.item_arguments.each for features in mine):
            continue
        shared = frozenset[str].intersection(*(_required_scalars(features) for features in (*ones, *made)))
        if len(shared) > 1 and any(snake(one) == snake(key) for one in shared) and not is_generated_key(key):
            found.add(name)
    return found


def find_naming_arguments(
    feature_list: Sequence[ToolFeatures], keys: Mapping[str, str], within: Container[str]
) -> dict[str, frozenset[str]]:
    """Return the arguments that name the record, for each tool about one record that takes no key.

    They are what all such tools of an entity require. A delete that is the only such tool counts too. `within`:
    entities whose names are unique only within something.
    """
    keyless: dict[str, list[ToolFeatures]] = defaultdict(list)
    for features in feature_list:
        if (
            features.verb in _ONE
            and features.singleton is None
            and features.list_change is None
            and (features.entity in within or not _has_key(features, keys))
        ):
            keyless[features.entity].append(features)
    found: dict[str, frozenset[str]] = {}
    for mine in keyless.values():
        shared = frozenset[str].intersection(*(_required_scalars(features) for features in mine))
        sure = len(mine) > 1 or mine[0].verb == "delete"
        writes = any(features.verb in {"update", "delete"} for features in mine)
        found |= {features.tool.id: shared for features in mine} if shared and sure and writes else {}
    return found


def _has_key(features: ToolFeatures, keys: Mapping[str, str]) -> bool:
    if features.declared_key is not None or features.item_arguments.each is not None:
        return True
    key = keys.get(features.entity, "id")
    name, score = key_argument(features.verb, features.entity, key, features.input)
    return name is not None and (score > 1 or f"_{snake(key)}".endswith(f"_{snake(name)}"))


def _required_scalars(features: ToolFeatures) -> frozenset[str]:
    parts = properties(features.input)
    return frozenset(name for name in required(features.input) if _can_name(name, parts.get(name, {})))


def _can_name(name: str, schema: Record) -> bool:
    return main_type(schema) in _SCALAR and snake(name) not in OPTIONS
