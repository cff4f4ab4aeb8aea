"""Roles of the arguments of tools: naming a record, setting fields, filtering, searching, paging.

First the fields of all entities are collected: those that results and declarations show, then those that only arguments
show, of writes before reads. Then each tool gets its roles once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_sim.infer.argument_fields import fields_of_arguments
from mcp_sim.infer.arguments import find_leaves, find_paging, find_query, is_option, last_name, only_text
from mcp_sim.infer.entity_keys import choose_key, find_naming_arguments, key_schemas
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.fields import KnownFields, Match
from mcp_sim.infer.filters import find_filters
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.states import find_described_state
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS, Basis, Filter, Paging

_ONE, _MANY, _WRITES = frozenset({"get", "update", "delete"}), frozenset({"list", "search"}), {"create", "update"}
_ORDER = ("create", "update", "get", "list", "search", "delete")
"""The verbs whose arguments show fields, the most reliable first."""
_COPYING, _NAMING = terms("verbs.copying"), terms("verbs.naming")
_PART = re.compile(r"\bpart(?:ial|ially)?\b(?: of)?|\bsubstring\b|\bfuzz(?:y|ily)\b", re.IGNORECASE)
_BY_NAME = Basis("inferred", 0.9, ("its name is usual for that",))
_ONLY_TEXT = Basis("inferred", 0.5, ("it is the only text without another role",))
_ANY_FIELDS = Basis("inferred", 0.9, ("an object holds any fields",))
_NO_PAGING = Paging()


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of a tool's arguments. `unexplained` are the arguments without a role."""

    key: str | None = None
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    paging: Paging = _NO_PAGING
    holder: str | None = None
    """The argument that names the record that contains those of the entity."""
    unexplained: tuple[str, ...] = ()
    basis: Mapping[str, Basis] = field(default_factory=dict[str, Basis])
    """Why arguments have these roles: by the fields of the plan that they become."""


@dataclass(frozen=True, slots=True)
class RoleFinder:
    """All that the roles of arguments depend on."""

    known: Mapping[str, KnownFields]
    """By entity."""
    declared: Mapping[str, Entity]
    naming: Mapping[str, frozenset[str]]
    """The arguments that together name the record, by tool."""

    def roles(self, features: ToolFeatures) -> Roles:
        """Return the roles of a tool: the arguments that name the record, those that ask, those that set fields."""
        if features.verb in RECORDLESS:
            return Roles()
        known, holder = self.known[features.entity], self._holder_argument(features)
        names, is_single = self.naming.get(features.tool.id, frozenset[str]()), features.singleton is not None
        arguments = {name: part for name, part in properties(features.input).items() if name != holder}
        key = None if names or is_single else _key_argument(features, known, arguments)
        rest = {name: part for name, part in arguments.items() if name != key}
        is_read = not is_single and key is None and features.verb not in _WRITES
        asked = {name: part for name, part in rest.items() if name in names or (is_read and not names)}
        written = {name: part for name, part in rest.items() if features.verb in _WRITES and name not in asked}
        found = _read(features, known, asked) if asked else Roles()
        found = replace(found, key=key, holder=holder)
        return _with_sets(found, features, known, written) if written else found

    def _holder_argument(self, features: ToolFeatures) -> str | None:
        """Return the argument that names the record inside which the entity's records are kept."""
        entity = self.declared.get(features.entity)
        if features.singleton is not None or entity is None or entity.inside is None:
            return None
        outer = self.known.get(entity.inside.entity)
        key = "id" if outer is None else outer.key
        named, score = key_argument("update", entity.inside.entity, key, features.input)
        return named if score > 1 and snake(named or "") not in {"id", "key", "name"} else None


def assign_roles(
    feature_list: Sequence[ToolFeatures],
    shown: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
    usual: Mapping[str, Mapping[str, Field]],
) -> tuple[dict[str, Roles], dict[str, dict[str, Field]], dict[str, str]]:
    """Return the roles of every tool's arguments, the fields of every entity, and the keys.

    `shown` are the fields that results and declarations show, `usual` those of entities of which no result shows any.
    """
    groups = group_by_entity(feature_list)
    keys = {name: choose_key(name, declared.get(name), parts, groups[name]) for name, parts in shown.items()}
    known = {
        name: KnownFields(
            name, keys[name], ({**usual.get(name, {}), **parts} or find_described_state(groups[name])).values()
        )
        for name, parts in shown.items()
    }
    finder = RoleFinder(known, declared, find_naming_arguments(feature_list, keys))
    for features in sorted(
        (one for one in feature_list if _adds_fields(one, declared)), key=lambda one: _ORDER.index(one.verb)
    ):
        entity, mine = declared.get(features.entity), known[features.entity]
        unexplained = [path for path in finder.roles(features).unexplained if path not in features.settled_arguments]
        is_given = entity is not None and entity.key_like is not None and bool(entity.fields)
        is_shown = bool(shown.get(features.entity))
        mine.add(fields_of_arguments(features, unexplained, known, is_given=is_given, is_shown=is_shown))
    for name, schema in key_schemas(groups, known).items():
        known[name].add([Field(keys[name], schema, required=True)], is_seen=True)
    return (
        {features.tool.id: finder.roles(features) for features in feature_list},
        {name: one.fields for name, one in known.items()},
        keys,
    )


def _adds_fields(features: ToolFeatures, declared: Mapping[str, Entity]) -> bool:
    """Whether the arguments of a tool may show fields. Singletons and nested records are known from elsewhere."""
    entity = declared.get(features.entity)
    is_nested = entity is not None and entity.inside is not None
    return features.verb not in RECORDLESS and features.singleton is None and not is_nested


def _key_argument(features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]) -> str | None:
    """Return the argument that names one record by its key. A field other than the key does not."""
    if features.verb not in _ONE:
        return None
    schema: Record = {**features.input, "properties": {**arguments}}
    name, score = key_argument(features.verb, known.entity, known.key, schema)
    if features.declared_key is not None or name is None or features.verb != "get":
        return features.declared_key or name
    is_only = len(arguments) == 1 and _field_in_name(features, known) is not None
    return None if is_only or (score < 2 and _is_secondary(snake(name), known)) else name


def _is_secondary(argument: str, known: KnownFields) -> bool:
    """Whether an argument is a field other than the key: `find_user_id_by_email(email)`."""
    found = known.by_name(argument)
    is_foreign = argument.endswith("_id") and not snake(known.key).endswith(argument)
    return is_foreign or (found is not None and found.field.name != known.key)


def _field_in_name(features: ToolFeatures, known: KnownFields) -> Field | None:
    """Return the field in the tool's name: `get_user_by_name(customer_name)`."""
    by, *what = features.parsed.after or ("",)
    found = known.named.get("_".join(what)) if by == "by" else None
    return found if found is not None and found.name != known.key else None


def _read(features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]) -> Roles:
    """Return the roles of arguments that ask for records."""
    needed = required(features.input)
    paging = find_paging(arguments)
    query = find_query(arguments, known.named.keys())
    taken = {query, paging.limit, paging.offset, paging.page, paging.cursor, paging.sort, paging.order}
    rest = {n: part for n, part in arguments.items() if n not in taken and not is_option(n, part, needed)}
    partially = features.parsed.word == "search" or _PART.search(features.tool.description) is not None
    found = find_filters(rest, known, partially=partially and features.verb in _MANY)
    filters = {name: one.rule for name, one in found.items()}
    basis = {"filters": _weakest(one.basis for one in found.values()), "paging": _BY_NAME, "query": _BY_NAME}
    named = _field_in_name(features, known)
    if features.verb == "get" and len(arguments) == 1 and named is not None:
        filters = {next(iter(arguments)): Filter(named.name)}
    unexplained = {name: part for name, part in rest.items() if name not in filters}
    if features.verb == "search" and query is None:
        query = only_text({name: part for name, part in unexplained.items() if name in needed})
        basis["query"] = _ONLY_TEXT
    left = tuple(name for name in unexplained if name != query)
    return Roles(filters=filters, query=query, paging=paging, unexplained=left, basis=basis)


def _with_sets(roles: Roles, features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]) -> Roles:
    """Return the roles with those of arguments that are written."""
    key, score = key_argument(features.verb, known.entity, known.key, features.input)
    new_key = key if features.verb == "create" and _is_new_key(features, key, score) else None
    named = new_key or (key if score > 1 and features.verb == "create" and features.parsed.word in _COPYING else None)
    needed = required(features.input)
    leaves = {
        path: part
        for path, part in find_leaves(arguments, known.entity, known.named.keys())
        if path != named and (last_name(path) in known.named or not is_option(path, part, needed))
    }
    found = _match_fields(leaves, known)
    sets = {new_key: known.key} if new_key is not None else {}
    sets |= {path: one.field.name for path, one in found.items()}
    left = (path for path, part in leaves.items() if path not in sets and part.get("format") != "password")
    basis = {**roles.basis, "sets": _weakest(one.basis for one in found.values())}
    return replace(roles, sets=sets, unexplained=(*roles.unexplained, *left), basis=basis)


def _is_new_key(features: ToolFeatures, key: str | None, score: int) -> bool:
    """Whether an argument of a create is the key of the new record: a required `<entity>_id`."""
    if features.is_upsert:
        return score > 1
    is_id = key is not None and snake(key).endswith("id") and key in required(features.input)
    return is_id and score > 2 and features.parsed.word in _NAMING


def _match_fields(leaves: Mapping[str, Record], known: KnownFields) -> dict[str, Match]:
    """Return the field that each argument sets. Equal names come before synonyms."""
    found: dict[str, Match] = {}
    taken: set[str] = set()
    named = {path: known.by_name(last_name(path)) for path in leaves}
    exact = {one.field.name for one in named.values() if one is not None}
    for path in leaves:
        alike = known.by_synonym(last_name(path))
        one = named[path] or (alike if alike is not None and alike.field.name not in exact else None)
        one = Match(Field("*", {}), _ANY_FIELDS) if path.endswith("*") else one
        if one is not None and one.field.name not in taken and _may_hold(one.field.schema, leaves[path]):
            found[path] = one
            taken.add(one.field.name)
    return found


def _may_hold(field: Record, argument: Record) -> bool:
    """Whether a field can hold the argument. A scalar does not set a field that is shown as an object."""
    return not properties(field) or main_type(argument) not in {"string", "integer", "number", "boolean"}


def _weakest(found: Iterable[Basis]) -> Basis:
    """Return the least confidence of several, with all reasons."""
    listed = [*found]
    reasons = (reason for one in listed for reason in one.reasons)
    return Basis(
        "inferred", min((one.confidence for one in listed), default=_BY_NAME.confidence), tuple(dict.fromkeys(reasons))
    )
