"""Keys of entities: the key field, the format of its values, and entities without an id."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from mcp_sim.plans.infer.arguments import key_argument
from mcp_sim.plans.infer.features import ToolFeatures, group_by_entity
from mcp_sim.plans.infer.names import last_nouns
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import is_id, last_word, noun_of_id, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.result_schemas import key_place

_GENERATED = terms("fields.generated_key")
"""Words of keys that follow each other, rather than names or paths."""
_ENDINGS, _OTHERS = ordered("fields.key_ending"), ordered("fields.other_key")
_DESCRIBED_ID = re.compile(
    r"\b(?:e\.g\.,?|for example,?|such as|like) ?[\"'`(]?([a-z]{1,20}[-_]\w{0,20}\d\w{0,20})", re.IGNORECASE
)
"""An id in a description: a word and, behind a hyphen or an underscore, a number.

Each part is bounded, so that a search takes time in proportion to the description.
"""
_NAMES = frozenset({"name", "title"})
_ONE = frozenset({"get", "update", "delete"})
_SCALAR = frozenset({"string", "integer", "number", ""})


def choose_key(
    entity: str,
    declared: Entity | None,
    fields: Mapping[str, Field],
    feature_list: Iterable[ToolFeatures],
    arguments: Container[str],
    entities: Container[str],
) -> str:
    """Return the field that identifies a record. The tools are those of the entity; some name one record.

    `arguments` are those of all tools, `entities` the names of all entities.
    """
    if declared is not None and (declared.key != "id" or "id" in declared.fields):
        return declared.key
    own, mine = (entity, entity.rsplit("_", 1)[-1]), [*feature_list]
    keys = _key_arguments(mine)
    if not keys and _is_named(entity, mine, arguments):
        return "name"
    if not fields:
        chosen = [{*map(snake, required(features.input))} for features in mine if features.verb == "create"]
        ids = {*own}.difference(*chosen)  # `get_user(user)` takes an id, unless `create_user(user)` chooses the name
        key = next((key for key in keys if last_word(key) != "id" and snake(key) not in ids), "id")
        names = _NAMES & {name for needed in chosen if snake(key) not in needed for name in needed}
        return last_word(key) if last_word(key) in names else key  # `create_habit(name)`, `delete_habit(habit_name)`
    # The field with the usual name of a key, or that of an argument which names records. `collection_name` is the
    # `name` of a collection that shows no id.
    by_name = {snake(name): name for name, field in fields.items() if main_type(field.schema) in _SCALAR}
    asked = [*map(snake, keys)]
    short = [word for key in asked for word in (last_word(key),) if key in {f"{name}_{word}" for name in own}]
    issued = _issued_ids(mine, entities)
    wanted = ("id", *(f"{name}_{ending}" for name in own for ending in _ENDINGS), *asked, *short, *issued, *_OTHERS)
    return next((by_name[name] for name in wanted if name in by_name), "id")


def _issued_ids(mine: Iterable[ToolFeatures], entities: Container[str]) -> list[str]:
    """Return the only id that a create returns, gets from no argument, and that is of no other entity: `doc_id`."""
    creates = [features for features in mine if features.verb == "create"]
    given = {snake(name) for features in creates for name in properties(features.input)}
    shown = {snake(name) for features in creates for name in properties(features.shape)} - given
    ids = [name for name in shown if is_id(name) and noun_of_id(name) not in entities]
    return ids if len(ids) == 1 else []


def _is_named(entity: str, mine: Iterable[ToolFeatures], arguments: Container[str]) -> bool:
    """Whether a name that creates require is what other tools ask for: `create_room(name)` and `book(room)`."""
    needed = {name for features in mine if features.verb == "create" for name in required(features.input)}
    return "name" in needed and entity in arguments and f"{entity}_id" not in arguments


def is_own_key(entity: str, key: str) -> bool:
    """Whether a key is named after its entity: `member_id` of a `team_member` does not link to a `member`."""
    own = (entity, entity.rsplit("_", 1)[-1])
    return snake(key) in {f"{name}_{ending}" for name in own for ending in _ENDINGS}


def _key_arguments(feature_list: Iterable[ToolFeatures]) -> dict[str, Record]:
    """Return the arguments that name single records, with their schemas."""
    key_arguments: dict[str, Record] = {}
    for features in feature_list:
        name = features.key_argument("id") if features.verb in _ONE else None
        if name is not None:
            key_arguments.setdefault(name, properties(features.input).get(name, {"type": "string"}))
    return key_arguments


def key_schemas(groups: Mapping[str, Sequence[ToolFeatures]], entities: Iterable[str]) -> dict[str, Record]:
    """Return the schemas of the keys of entities, as the arguments that name records have them.

    Without such an argument, ids have the type of those that other tools take, or else of all ids. They have the format
    of any argument that refers to such a record: `parent_step_id` with a uuid.
    """
    types, formats = _types_and_formats_of_ids(features for mine in groups.values() for features in mine)
    every = {kind for kinds in types.values() for kind in kinds}
    usual = {name: types.get(f"{name}_id", every) for name in entities}
    own = {
        name: [*_key_arguments(groups.get(name, ())).values(), *_returned_keys(groups.get(name, ()))] for name in usual
    }
    default = {name: {"type": min(kinds) if len(kinds) == 1 else "string"} for name, kinds in usual.items()}
    return {name: {**formats.get(f"{name}_id", {}), **next(iter(own[name]), default[name])} for name in usual}


def _returned_keys(feature_list: Iterable[ToolFeatures]) -> Iterator[Record]:
    """Yield the schemas of the keys that creates return alone, as a whole number."""
    for features in feature_list:
        if features.verb == "create" and key_place(features.tool) is not None:
            yield {"type": "integer"}


def _types_and_formats_of_ids(feature_list: Iterable[ToolFeatures]) -> tuple[dict[str, set[str]], dict[str, Record]]:
    """Return the types of arguments that are ids by their names, and their formats by the ends of their names."""
    types: dict[str, set[str]] = defaultdict(set)
    formats: dict[str, Record] = {}
    for features in feature_list:
        for name, schema in properties(features.input).items():
            if last_word(name) == "id":
                types[snake(name)].add(main_type(schema))
                ends = last_nouns(words(snake(name))) if "format" in schema else ()
                formats |= {"_".join(end): {"format": schema["format"]} for end in ends}
    return types, formats


def key_like(declared: Entity, key: Field, seen: Sequence[Key]) -> Key | None:
    """Return an example id that new ids follow: declared, seen, or from the schema. None if ids have another format.

    Descriptions show ids, too: `Order id, e.g. ORD-1001`.
    """
    if declared.key_like is not None:
        return declared.key_like
    schema = key.schema
    described = _DESCRIBED_ID.search(str(schema.get("description", ""))) if main_type(schema) == "string" else None
    shown = (*schema.get("examples", ()), schema.get("example"), schema.get("default"), described and described[1])
    examples = [example for example in (*seen, *shown) if example]
    if examples and isinstance(examples[0], str | int):
        return examples[0]
    if main_type(schema) in {"integer", "number"}:
        return max(1, int(schema.get("minimum", 1)))
    if schema.keys() & {"format", "pattern"} or constants(schema) or _GENERATED.isdisjoint(words(key.name)):
        return None
    return f"{declared.name}_{1:05d}"


def find_naming_arguments(
    feature_list: Sequence[ToolFeatures], keys: Mapping[str, str], declared: Container[str]
) -> dict[str, frozenset[str]]:
    """Return the arguments that name the record, for each tool about one record that takes no key.

    They are what all such tools of an entity require. The only such tool counts too if it deletes.
    """
    keyless = group_by_entity(features for features in feature_list if _lacks_key(features, keys))
    naming_arguments: dict[str, frozenset[str]] = {}
    known = {features.entity for features in feature_list if features.verb not in {"update", "delete"}}
    for entity, mine in keyless.items():
        if entity not in known and entity not in declared:
            continue  # `delete_range(text, start, end)`
        shared = frozenset[str].intersection(*(frozenset(required(features.input)) for features in mine))
        verbs = [features.verb for features in mine]
        if verbs == ["delete"] or (len(mine) > 1 and {"update", "delete"} & {*verbs}):
            naming_arguments |= {features.tool.id: shared for features in mine if shared}
    return naming_arguments


def _lacks_key(features: ToolFeatures, keys: Mapping[str, str]) -> bool:
    """Whether a tool is about one record, and no argument is its key."""
    if features.verb not in _ONE or features.declared_key is not None or features.item_arguments.each is not None:
        return False
    key = keys.get(features.entity, "id")
    name, score = key_argument(features.verb, features.entity, key, features.input)
    return name is None or (score < 2 and not f"_{snake(key)}".endswith(f"_{snake(name)}"))
