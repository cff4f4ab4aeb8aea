"""Roles of all arguments, and the fields that only arguments show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from mcp_sim.infer.arguments import Roles, assign_read_roles, assign_write_roles
from mcp_sim.infer.creates import new_key_argument, origin_argument
from mcp_sim.infer.entity_keys import choose_key, find_example_id, find_naming_arguments
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.fields import fields_of_filters
from mcp_sim.infer.filters import KnownFields
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.states import fields_from_verbs
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import at, main_type, properties, required
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import RECORDLESS, Filter

_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_WHY = ("reason", "justification", "rationale")
_ASKS = frozenset({"get", "list", "search"})
_PART = re.compile(r"\bpart(?:ial|ially)?\b(?: of)?|\bsubstring\b|\bfuzz(?:y|ily)\b", re.IGNORECASE)
_EXACT_SUFFIXES = ("id", "status", "state", "type", "date", "day", "time", "_at", "code", "key")
"""Endings of fields that are never matched partially."""


def assign_roles(
    feature_list: Sequence[ToolFeatures],
    shown_by_results: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
    usual: Mapping[str, Mapping[str, Field]],
) -> tuple[dict[str, Roles], dict[str, dict[str, Field]], dict[str, str]]:
    """Return the roles of every tool's arguments, the fields with those that only arguments show, and the keys.

    `usual` are the fields of entities of which no result shows any.
    """
    groups = group_by_entity(feature_list)
    fields = {
        name: {**usual.get(name, {}), **_with_described_state(parts, groups[name])}
        for name, parts in shown_by_results.items()
    }
    roles: dict[str, Roles] = {}
    keys = _choose_keys(feature_list, shown_by_results, declared)
    named = find_naming_arguments(feature_list, keys)
    order = ("create", "update", "get", "list", "search", "delete", *sorted(RECORDLESS))
    for features in sorted(feature_list, key=lambda features: order.index(features.verb)):
        id_, name = features.tool.id, features.entity
        if features.verb in RECORDLESS:
            roles[id_] = Roles()
            continue
        entity, names = declared.get(name), named.get(id_, frozenset())
        roles[id_] = _roles_of(features, _known_fields(name, keys[name], fields[name]), names, entity, keys)
        if features.singleton is not None or (entity is not None and entity.inside is not None):
            continue
        is_given = entity is not None and entity.key_like is not None and bool(entity.fields)
        is_shown = bool(shown_by_results.get(name))
        added = _fields_of_arguments(features, roles[id_], fields[name], fields, is_given=is_given, is_shown=is_shown)
        if added:
            fields[name].update(added)
            roles[id_] = _roles_of(features, _known_fields(name, keys[name], fields[name]), names, entity, keys)
    ids = _ids_of_servers(feature_list)
    for name, key in keys.items():
        if key not in fields[name]:
            fields[name][key] = Field(key, _key_schema(groups[name], name, ids), required=True)
    return roles, fields, keys


def _with_described_state(fields: Mapping[str, Field], feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the fields. If neither results nor declarations show any, add the state that verbs mention."""
    mine = [features for features in feature_list if features.verb not in RECORDLESS and features.singleton is None]
    return dict(fields) if fields else {field.name: field for field in fields_from_verbs(mine)}


def _choose_keys(
    feature_list: Sequence[ToolFeatures], fields: Mapping[str, Mapping[str, Field]], declared: Mapping[str, Entity]
) -> dict[str, str]:
    arguments: dict[str, list[str]] = defaultdict(list)
    for features in feature_list:
        name = features.key_argument("id") if features.verb in _ONE else None
        if name is not None:
            arguments[features.entity].append(name)
    return {name: choose_key(name, declared.get(name), parts, arguments[name]) for name, parts in fields.items()}


@dataclass(frozen=True, slots=True)
class _Ids:
    """The id arguments of all tools: the first declared type of each name, and all types on each server."""

    type_of: Mapping[str, str]
    types_on: Mapping[str, AbstractSet[str]]

    def usual_type(self, servers: Iterable[str]) -> str:
        """Return the type of the ids of servers: integer if all of them are, else string."""
        kinds = {kind for server in servers for kind in self.types_on.get(server, ())}
        return "integer" if kinds == {"integer"} else "string"


def _ids_of_servers(feature_list: Iterable[ToolFeatures]) -> _Ids:
    type_of: dict[str, str] = {}
    types_on: dict[str, set[str]] = defaultdict(set)
    for features in feature_list:
        for argument, part in properties(features.input).items():
            name, kind = snake(argument), main_type(part)
            if name == "id" or name.endswith("_id"):
                types_on[features.tool.server].add(kind)
                type_of[name] = type_of.get(name) or kind
    return _Ids(type_of, types_on)


def _key_schema(feature_list: Sequence[ToolFeatures], entity: str, ids: _Ids) -> Record:
    asking = (features for features in feature_list if features.verb in _ONE)
    named = ((features, name) for features in asking if (name := features.key_argument("id")) is not None)
    own = [properties(features.input).get(name, {"type": "string"}) for features, name in named]
    if own:
        return next((schema for schema in own if find_example_id(str(schema.get("description", "")))), own[0])
    return {"type": ids.type_of.get(f"{entity}_id") or ids.usual_type({one.tool.server for one in feature_list})}


def _known_fields(entity: str, key: str, fields: Mapping[str, Field]) -> KnownFields:
    backwards = [*fields.items()][::-1]
    links = {field.link: name for name, field in backwards if field.link}
    by_name = {snake(name): name for name, _ in backwards}
    return KnownFields(entity, key, by_name, {name: field.schema for name, field in fields.items()}, links)


def _roles_of(
    features: ToolFeatures,
    known: KnownFields,
    names: AbstractSet[str],
    entity: Entity | None,
    keys: Mapping[str, str],
) -> Roles:
    """Return the roles of a tool. The arguments `names` together name the record."""
    if features.singleton is not None:
        return _singleton_roles(features, known)
    if entity is not None and entity.inside is not None:
        return _part_roles(features, known, entity.inside.entity, keys.get(entity.inside.entity, "id"))
    if names:
        return _roles_without_key(features, known, names)
    if features.verb in _MANY:
        return match_partially(features, known, assign_read_roles(features.verb, known, features.input, None))
    if features.verb == "create":
        return _created_roles(features, known)
    key = features.key_argument(known.key)
    return (
        assign_write_roles(known, features.input, key)
        if features.verb == "update"
        else _key_roles(features, known, key)
    )


def _key_roles(features: ToolFeatures, known: KnownFields, key: str | None) -> Roles:
    """Return the roles of a get or a delete: the key, or else the fields that find the record."""
    is_open = features.verb == "get" and features.declared_key is None
    if key is None or (is_open and is_secondary_field(features, known, key)):
        return assign_read_roles(features.verb, known, features.input, None)
    found = field_in_name(features, known) if is_open and len(properties(features.input)) == 1 else None
    return Roles(key) if found is None else Roles(None, filters={key: Filter(found)})


def _created_roles(features: ToolFeatures, known: KnownFields) -> Roles:
    """Return the roles of a create. An argument may hold the key of the new record, or name the one to copy."""
    key, origin = new_key_argument(features, known.key), origin_argument(features, known.key)
    found = assign_write_roles(known, features.input, key or origin)
    return replace(found, key=None, sets={key: known.key, **found.sets} if key is not None else found.sets)


def _singleton_roles(features: ToolFeatures, known: KnownFields) -> Roles:
    """Return the roles for a singleton. The only argument sets the only field, whatever its name."""
    if features.verb != "update":
        return Roles()
    found, needed = assign_write_roles(known, features.input, None), [*required(features.input)]
    only = [name for name in known.fields.values() if name != known.key]
    return Roles(None, {needed[0]: only[0]}) if len(only) == len(needed) == 1 and not found.sets else found


def _part_roles(features: ToolFeatures, known: KnownFields, holder: str, holder_key: str) -> Roles:
    """Return the roles for nested records: the argument that names the container, then the others."""
    named, score = key_argument("update", holder, holder_key, features.input)
    outer = named if score > 1 and snake(named or "") not in {"id", "key", "name"} else None
    parts = {name: part for name, part in properties(features.input).items() if name != outer}
    inner: Record = {**features.input, "properties": parts}
    key = (
        features.declared_key or key_argument(features.verb, known.entity, known.key, inner)[0]
        if features.verb in _ONE
        else None
    )
    if features.verb in {"create", "update"}:
        found = assign_write_roles(known, inner, key)
    else:
        found = assign_read_roles(features.verb, known, inner, key) if features.verb in _MANY else Roles(key)
    return replace(found, holder=outer)


def _roles_without_key(features: ToolFeatures, known: KnownFields, names: AbstractSet[str]) -> Roles:
    """Return the roles if these arguments name the record without a key. An update sets the others."""
    parts = properties(features.input)
    naming: Record = {**features.input, "properties": {name: part for name, part in parts.items() if name in names}}
    others: Record = {**features.input, "properties": {name: part for name, part in parts.items() if name not in names}}
    asked = assign_read_roles("get", known, naming, None)
    written = assign_write_roles(known, others, None) if features.verb == "update" else Roles()
    unexplained = (*asked.unexplained, *written.unexplained)
    return Roles(None, written.sets, asked.filters, unexplained=unexplained)


def _fields_of_arguments(
    features: ToolFeatures,
    roles: Roles,
    known: Mapping[str, Field],
    entities: Container[str],
    *,
    is_given: bool,
    is_shown: bool,
) -> dict[str, Field]:
    """Return fields that only arguments show.

    These are all that a create or an update takes, and links to a parent or filters of a list. If records are given, an
    update that names other records or gives a reason adds no field. `is_shown`: results show fields of the records.
    """
    paths = [path for path in roles.unexplained if path not in features.settled_arguments]
    if features.verb in {"create", "update"}:
        found = _written_fields(features, paths, is_given=is_given)
    else:
        is_asked = not is_given and (features.verb in _MANY or (features.verb == "get" and roles.key is None))
        found = _asked_fields(features, paths, entities, is_shown=is_shown, is_asked=is_asked)
    return {field.name: field for field in found if field.name not in known}


def _asked_fields(
    features: ToolFeatures, paths: Sequence[str], entities: Container[str], *, is_shown: bool, is_asked: bool
) -> list[Field]:
    """Return links to other entities, and the fields that the other arguments filter by if `is_asked`."""
    found = _scopes(features, paths, entities) if features.verb in _ASKS else []
    others = [path for path in paths if path not in {field.name for field in found}]
    return [*found, *(fields_of_filters(others, features.input, is_shown=is_shown) if is_asked else ())]


def _written_fields(features: ToolFeatures, paths: Sequence[str], *, is_given: bool) -> list[Field]:
    is_new, needed = features.verb == "create", required(features.input)
    kept = [path for path in paths if is_new or not is_given or not snake(path).endswith(("_id", "_ids", *_WHY))]
    schemas = {path: _without_default(at(features.input, path)) for path in kept}
    names = {path: path.rsplit(".", 1)[-1] for path in kept}
    return [
        Field(name if is_new else _strip_new(name), schemas[path], required=is_new and path in needed)
        for path, name in names.items()
    ]


def _scopes(features: ToolFeatures, paths: Sequence[str], entities: Container[str]) -> list[Field]:
    """Return the links to other entities by which a tool finds records: `project_id` of `list_tasks`."""
    links = {path: snake(_strip_new(path)).removesuffix("_id") for path in paths}
    return [
        Field(_strip_new(path), _without_default(at(features.input, path)), link=link)
        for path, link in links.items()
        if link != features.entity and link in entities
    ]


def _without_default(schema: Record) -> Record:
    return {word: part for word, part in schema.items() if word != "default"}


def _strip_new(name: str) -> str:
    """Return the field that `new_name` or `newName` sets."""
    parts = words(name)
    if len(parts) < 2 or parts[0] not in {"new", "updated"}:
        return name
    rest = name[len(parts[0]) :].lstrip("_-")
    return rest[:1].lower() + rest[1:]


def field_in_name(features: ToolFeatures, known: KnownFields) -> str | None:
    """Return the field in the tool's name: `get_user_by_name(customer_name)`."""
    by, *what = features.parsed.after or ("",)
    name = known.fields.get("_".join(what)) if by == "by" else None
    return name if name != known.key else None


def is_secondary_field(features: ToolFeatures, known: KnownFields, key: str) -> bool:
    """Whether the only argument is a field other than the key: `find_user_id_by_email(email)`."""
    if key_argument(features.verb, known.entity, known.key, features.input)[1] > 1:
        return False
    is_foreign = snake(key).endswith("_id") and not snake(known.key).endswith(snake(key))
    return is_foreign or known.by_name(snake(key)) not in {None, known.key}


def match_partially(features: ToolFeatures, known: KnownFields, roles: Roles) -> Roles:
    """Match texts partially, if a tool searches or its description says so."""
    if features.parsed.word != "search" and not _PART.search(features.tool.description):
        return roles
    loose = {
        name: replace(rule, op="contains") if _is_loose(rule, known) else rule for name, rule in roles.filters.items()
    }
    return replace(roles, filters=loose)


def _is_loose(rule: Filter, known: KnownFields) -> bool:
    schema = known.schemas.get(rule.field, {})
    is_text = main_type(schema) == "string" and not schema.keys() & {"enum", "const", "format"}
    return rule.op == "equals" and is_text and not snake(rule.field).endswith(_EXACT_SUFFIXES)
