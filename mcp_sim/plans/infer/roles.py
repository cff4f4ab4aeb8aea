"""Roles of the arguments of tools: naming a record, setting fields, filtering, searching, paging.

First the fields of all entities are collected: those that results and declarations show, then those that only arguments
show, of writes before reads. Then each tool gets its roles once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from mcp_sim.plans.infer.arguments import (
    find_leaves,
    find_paging,
    find_query,
    is_limit_declared,
    key_argument,
    last_name,
    named_value,
    names_record,
    without_options,
    without_paging,
)
from mcp_sim.plans.infer.entity_keys import choose_key, find_naming_arguments, key_schemas
from mcp_sim.plans.infer.features import ToolFeatures, group_by_entity
from mcp_sim.plans.infer.fields import KnownFields
from mcp_sim.plans.infer.filters import NAMED, fields_of_arguments, find_filters, matched_in_part, threshold_filter
from mcp_sim.plans.infer.names import Words, first_nouns
from mcp_sim.plans.infer.states import find_described_state, find_flags
from mcp_sim.plans.infer.verbs import STRONG, TRANSITIONS, is_act
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, is_nullable, items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import last_word, noun_of_id, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS, Basis, Filter, Paging

_ONE, _WRITES = frozenset({"get", "update", "delete"}), frozenset({"create", "update"})
_ORDER = ("create", "update", "get", "list", "search")
"""The verbs whose arguments show fields, the most reliable first."""
_NAMING, _MOVING = terms("verbs.naming"), terms("verbs.moving")
_SOURCES, _TARGETS = terms("arguments.source"), terms("arguments.target")
_CHANGE_TIME = re.compile(r"(last_)?(updated|modified|changed|edited)_(at|on|date|time)|(date|time)_(updated|modified)")
"""The time of the last change, which servers write themselves, whatever a caller sends back."""
_GENERATED = re.compile(
    r"\b(auto|generat|custom|if (not|un|none|omit)|default|(optional|unique) (\w+ )?(id|identifier|key)\b(?! of| to))",
    re.IGNORECASE,
)
"""The property of an object that is an amount of money, and names of its number."""
_STOCK, _BOUNDS = terms("fields.stock"), terms("fields.bound")
"""Words of numbers that are agreed on: what is paid or logged later does not replace a `target_amount`."""
_IDS, _NAMES = frozenset({"id", "uid", "uuid"}), terms("fields.naming")
_NUMBERS = frozenset({"integer", "number"})
_SETTING = terms("verbs.setting", "verbs.replacing") | {"update", "change"}
_TIME_UNITS, _ENDS = terms("arguments.time_unit"), terms("fields.end")
_BY_NAME = Basis("inferred", 0.9, ("its name is usual for that",))
_DECLARED_LIMITS = Basis("schema", 0.9, ("its inputSchema declares the limits of pages",))
_NO_PAGING = Paging()


@frozen
class Roles:
    """Roles of a tool's arguments. `unexplained` are the arguments without a role."""

    key: str | None = None
    """The argument that names the record; of a create, the one that is copied."""
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    paging: Paging = _NO_PAGING
    holder: str | None = None
    """The argument that names the record that contains those of the entity."""
    unexplained: tuple[str, ...] = ()
    basis: Mapping[str, Basis] = field(default_factory=dict[str, Basis])
    """Why arguments have these roles: by the fields of the plan that they become."""


@frozen
class RoleFinder:
    """All that the roles of arguments depend on."""

    known: Mapping[str, KnownFields]
    """By entity."""
    declared: Mapping[str, Entity]
    naming: Mapping[str, frozenset[str]]
    """The arguments that together name the record, by tool."""

    def roles(self, features: ToolFeatures) -> Roles:
        """Return the roles of a tool: the arguments that name the record, those that ask, those that set fields."""
        known, holder, is_write = self.known[features.entity], self._holder_argument(features), features.verb in _WRITES
        names = self.naming.get(features.tool.id, frozenset[str]())
        arguments, is_found = _split(properties(features.input), {holder})[1], bool(names or features.singleton)
        key = None if is_found else _key_argument(features, known, arguments)
        if key is not None:
            roles = self._read_beside(key, features, known, _split(arguments, {key})[1])
        else:
            asked = _split(arguments, names)[0] if is_found or is_write else arguments
            roles = _read(features, known, asked) if asked else Roles()
        roles, written = replace(roles, key=key, holder=holder), _split(arguments, {*names, *roles.filters, key})[1]
        is_part = any("_".join(noun) in self.known for noun in first_nouns(tuple(features.entity.split("_"))))
        return _with_sets(roles, features, known, written, is_part=is_part) if written and is_write else roles

    def shown_fields(self, features: ToolFeatures, *, is_shown: bool) -> Iterator[Field]:
        """Yield the fields that only arguments and verbs show. `is_shown`: results show those of the records."""
        entity = self.declared.get(features.entity, Entity(features.entity))
        known = self.known[features.entity]
        paths = [path for path in self.roles(features).unexplained if path not in features.settled_arguments]
        paths = [path for path in paths if not any(_is_of_an_act(last_name(path), name) for name in known.named)]
        is_given = entity.key_like is not None and bool(entity.fields)
        yield from fields_of_arguments(features, paths, self.known, is_given=is_given, is_shown=is_shown)
        if not is_shown and features.entity not in self.declared:
            yield from find_flags(features, known.fields)

    def _read_beside(
        self, key: str, features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]
    ) -> Roles:
        """Return the roles of arguments that ask for a record besides its key."""
        if features.verb in {"get", "delete"} and key not in required(features.input):
            others = _read(features, known, arguments)
            return Roles(filters=others.filters, basis=others.basis)
        return Roles(filters=self._parents(features, known, arguments))

    def _parents(
        self, features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]
    ) -> dict[str, Filter]:
        """Return the ids that a change requires of the record which the changed one belongs to, as filters.

        They are values instead if the verb moves records, if the tool writes nothing else, or if they may be null.
        """
        fields = {name: known.find(snake(name)) for name in arguments if self._is_parent(features, name)}
        held = {name: value for name, value in fields.items() if value is not None and not is_nullable(value.schema)}
        parents = {name: Filter(value.name) for name, value in held.items()}
        is_all = features.verb == "update" and len(arguments) == len(parents) and features.parsed.status is None
        return {} if is_all or features.parsed.word in _MOVING or features.enters is not None else parents

    def _is_parent(self, features: ToolFeatures, argument: str) -> bool:
        """Whether a change requires an argument that is the id of a record of another entity."""
        stem = noun_of_id(snake(argument))
        is_other = stem in self.known and stem != features.entity
        is_needed = features.verb in {"update", "delete"} and argument in required(features.input)
        return is_other and is_needed and argument not in {*features.item_arguments.paths, *features.settled_arguments}

    def _holder_argument(self, features: ToolFeatures) -> str | None:
        """Return the argument that names the record inside which the entity's records are kept."""
        entity = self.declared.get(features.entity)
        if features.singleton is not None or entity is None or entity.inside is None:
            return None
        outer = self.known.get(entity.inside.entity)
        key = "id" if outer is None else outer.key
        named, score = key_argument("update", entity.inside.entity, key, features.input)
        return named if score > 1 and snake(named or "") not in {"id", "key", "name"} else None


def _split(arguments: Mapping[str, Record], names: Container[str]) -> tuple[dict[str, Record], dict[str, Record]]:
    """Return the arguments that are among these names, and the others."""
    among = {name: argument for name, argument in arguments.items() if name in names}
    return among, {name: argument for name, argument in arguments.items() if name not in among}


def _known_fields(
    features_of: Sequence[ToolFeatures],
    name: str,
    key: str,
    shown: Mapping[str, Field],
    key_schema: Record,
    rows: Sequence[Record],
) -> KnownFields:
    """Return what is known of the fields of an entity before arguments are read."""
    fields = dict(shown) or find_described_state(features_of)
    field = fields.get(key)
    if field is not None and main_type(field.schema) == "string" and main_type(key_schema) == "integer":
        fields[key] = replace(field, schema=key_schema)  # a description shows "id": "..." where tools take integers
    creates = (features for features in features_of if features.verb == "create")
    written = frozenset(snake(argument) for features in creates for argument in properties(features.input))
    parents = set[str]()
    for features in features_of:
        ids = {argument for argument in map(snake, properties(features.input)) if names_record(argument, name)}
        if own := {argument for argument in ids if argument.startswith(f"{name}_")}:
            parents |= ids - own - {key}
    return KnownFields(name, key, fields, written, rows, parents)


def assign_roles(
    feature_list: Sequence[ToolFeatures],
    shown: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
    usual: Mapping[str, Mapping[str, Field]],
    records: Mapping[str, Sequence[Record]],
) -> tuple[dict[str, Roles], dict[str, dict[str, Field]], dict[str, str]]:
    """Return the roles of every tool's arguments, the fields of every entity, and the keys.

    `shown` are the fields that results and declarations show, `usual` those of entities whose fields no result shows,
    `records` the given ones.
    """
    groups = group_by_entity(feature_list)
    arguments = {snake(name) for features in feature_list for name in properties(features.input)}
    keys = {
        name: choose_key(name, declared.get(name), parts, groups[name], arguments, shown.keys())
        for name, parts in shown.items()
    }
    usual = {
        name: {field: value for field, value in parts.items() if not keys.get(name, "").endswith(f"_{field}")}
        for name, parts in usual.items()
    }  # the `list_name` of a list is its only name
    schemas = key_schemas(groups, shown)
    known = {
        name: _known_fields(
            groups[name], name, keys[name], {**usual.get(name, {}), **parts}, schemas[name], records.get(name, ())
        )
        for name, parts in shown.items()
    }
    finder = RoleFinder(known, declared, find_naming_arguments(feature_list, keys, declared))
    for features in _showing_fields(feature_list, declared):
        known[features.entity].add(finder.shown_fields(features, is_shown=bool(shown.get(features.entity))))
    for name, schema in schemas.items():
        known[name].add([Field(keys[name], schema, required=True)])
    return (
        {
            tool_features.tool.id: Roles() if tool_features.verb in RECORDLESS else finder.roles(tool_features)
            for tool_features in feature_list
        },
        {name: known_fields.fields for name, known_fields in known.items()},
        keys,
    )


def _showing_fields(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Return the tools whose arguments may show fields, the most reliable first.

    Singletons and nested records are known from elsewhere.
    """
    nested = {name for name, entity in declared.items() if entity.inside is not None}
    showing = [
        features
        for features in feature_list
        if features.verb in _ORDER and features.singleton is None and features.entity not in nested
    ]
    return sorted(showing, key=lambda features: _ORDER.index(features.verb))


def _key_argument(features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]) -> str | None:
    """Return the argument that names one record by its key. A field other than the key does not."""
    if features.verb not in _ONE:
        return None
    schema: Record = {**features.input, "properties": {**arguments}}
    name, score = key_argument(features.verb, known.entity, known.key, schema)
    if features.declared_key is not None or name is None or features.verb != "get":
        return features.declared_key or name
    return None if score < 2 and _is_secondary(snake(name), known) else name


def _is_secondary(argument: str, known: KnownFields) -> bool:
    """Whether an argument is a field other than the key: `find_user_id_by_email(email)`."""
    known_field = known.find(argument)
    return known_field is not None and known_field.name != known.key


def _read(features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record]) -> Roles:
    """Return the roles of arguments that ask for records."""
    written, asking = _split(arguments, [name for name in arguments if snake(name) in known.written])
    paging, query = find_paging(asking), find_query(arguments, known.named.keys())
    rest = _split({**written, **without_paging(asking)}, {query, paging.cursor, paging.sort, paging.order})[1]
    rest = without_options(
        {name: argument for name, argument in arguments.items() if name in rest}, required(features.input)
    )
    partial = rest if features.parsed.word == "search" else matched_in_part(rest, features.tool.description)
    about = f"{features.tool.name} {features.tool.description}"
    bounds = {name: threshold_filter(name, argument, known, about) for name, argument in rest.items()}
    by_argument = find_filters(rest, known, partial)
    by_argument |= {name: bound for name, bound in bounds.items() if bound is not None}
    basis = {"filters": _weakest(found_filter.basis for found_filter in by_argument.values()), "query": _BY_NAME}
    basis["paging"] = _DECLARED_LIMITS if is_limit_declared(arguments, paging) else _BY_NAME
    filters = {name: found_filter.rule for name, found_filter in by_argument.items()}
    return Roles(
        filters=filters, query=query, paging=paging, unexplained=tuple(_split(rest, by_argument)[1]), basis=basis
    )


def _with_sets(
    roles: Roles, features: ToolFeatures, known: KnownFields, arguments: Mapping[str, Record], *, is_part: bool
) -> Roles:
    """Return the roles with those of arguments that are written. The key of a create is that of the copied record.

    `is_part`: the noun begins with another entity. Then a required `id` names that: `create_incident_snooze(id)`.
    """
    key, score = key_argument(features.verb, known.entity, known.key, features.input)
    is_other = key != known.key and known.key in properties(features.input)
    is_owner = is_part and key == "id" and key in required(features.input) and not features.is_upsert
    is_named = features.verb == "create" and not is_other and not is_owner and _is_new_key(features, key, score)
    # A server that takes `14.7` and shows `1/14.7` makes the key itself.
    is_named = is_named and len(_patterns(known.fields.get(known.key), properties(features.input).get(key or ""))) < 2
    copied, target = _copied(features, known) if features.is_copy else (None, None)
    new_key = key if is_named else target or _only_name(features, known)
    taken = {key} if is_named or is_owner else {copied, target, new_key}
    kept = _written_leaves(_split(arguments, taken)[1], features, known)
    sets = {new_key: known.key} if new_key is not None else {**features.sets_value}
    if features.verb == "update":
        kept = {path: leaf for path, leaf in kept.items() if _CHANGE_TIME.fullmatch(last_name(path)) is None}
    kept = _split(kept, features.sets_value)[1]
    entered = None if features.enters is None else "_".join(features.parsed.noun)
    of_act = _fields_of_act(kept, features, known) if features.verb == "update" else {}
    kept = _split(kept, of_act)[1]
    sets |= of_act | (_entered_row(kept, features, known, entered) or _match_fields(kept, known, entered))
    if features.is_membership and not sets:
        sets = _only_list(kept, known)
    if roles.key is not None:  # servers ignore the id of a record that is sent back with it
        sets = {path: name for path, name in sets.items() if name != known.key or last_name(path) not in _IDS}
    if features.singleton is not None:  # nothing renames the only record: `set_option(option_name, on)` of `option`
        sets = {path: name for path, name in sets.items() if name != known.key}
    sets |= _changed_number(_split(kept, sets)[1], features, known, {*sets.values()})
    sets |= _moved_end(_split(kept, sets)[1], features, known, {*sets.values()})
    sets |= _nearest_fields(_split(kept, sets)[1], features, known, {*sets.values()})
    sets |= _field_of_noun(_split(kept, sets)[1], features, known, {*sets.values()})
    pair = named_value(_split(kept, sets)[1], known.entity) if features.verb == "update" else None
    sets |= {pair[1]: "*"} if pair is not None else {}
    rest = _split(kept, {*sets, *(pair or ())})[1].items()
    left = (path for path, schema in rest if schema.get("format") != "password")
    basis = {**roles.basis, "sets": NAMED}
    return replace(roles, key=copied or roles.key, sets=sets, unexplained=(*roles.unexplained, *left), basis=basis)


def _only_name(features: ToolFeatures, known: KnownFields) -> str | None:
    """Return the only text that a create takes where given records are only names: a `text` for a list of notices."""
    are_names = bool(known.rows) and [*known.rows[0]] == [known.key] and features.verb == "create"
    asked = [*required(features.input)] if are_names else []
    return asked[0] if len(asked) == 1 and main_type(property_of(features.input, asked[0])) == "string" else None


def _copied(features: ToolFeatures, known: KnownFields) -> tuple[str | None, str | None]:
    """Return the argument that names the record to copy, and the one with the key of the copy.

    `source_path` names a file as `path` would, and any record if there is a `target_path` as well.
    """
    parts = properties(features.input)
    sources, targets = (
        {rest: name for name in parts for first, _, rest in [snake(name).partition("_")] if first in prefixes}
        for prefixes in (_SOURCES, _TARGETS)
    )
    scores = {rest: key_argument(features.verb, known.entity, known.key, {"properties": {rest: parts[name]}})[1]
              for rest, name in sources.items()}  # fmt: skip
    rest = max(scores, key=lambda rest: (scores[rest], rest in targets), default="")
    if scores.get(rest, 0) > 1 or (rest in sources and rest in targets):
        return sources[rest], targets.get(rest)
    key, score = key_argument(features.verb, known.entity, known.key, features.input)
    return (key if score > 1 else None), None


def _nearest_fields(
    arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields, taken: Collection[str]
) -> dict[str, str]:
    """Return the only field that each argument of an update can mean: `public_level` of `public`."""
    if features.verb != "update":
        return {}
    noun = features.parsed.noun
    fields = {name: known.named[name] for name in known.named if known.named[name].name not in {*taken, known.key}}
    near = {
        path: [field.name for name, field in fields.items() if _is_near(last_name(path), schema, name, field, noun)]
        for path, schema in arguments.items()
    }
    return {path: names[0] for path, names in near.items() if len(names) == 1}


def _field_of_noun(
    arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields, taken: Collection[str]
) -> dict[str, str]:
    """Return the only value that a setter takes, for the field in its name: `set_brightness(lamp_id, level)`."""
    is_setter = features.verb == "update" and features.parsed.word in _SETTING
    names = [*required(features.input) & arguments.keys()] if is_setter else []
    if len(names) != 1 or features.calculates(names[0]) is not None:
        return {}
    named = words(features.tool.name)
    ends = ("_".join(named[at:]) for at in range(1, len(named)))
    field = next((known.named[end] for end in ends if end in known.named), None)
    if field is None or field.name in {*taken, known.key}:
        return {}
    kinds = {main_type(arguments[names[0]]), main_type(field.schema)}
    return {names[0]: field.name} if len(kinds) == 1 or kinds <= _NUMBERS else {}


def _is_near(argument: str, schema: Record, name: str, field: Field, noun: Words) -> bool:
    """Whether an argument may mean a field of another name.

    It has the same choices, or is a number named with one word more, or is a `to_hall`.
    """
    if constants(schema):
        choices, held = ({*map(str, constants(each))} for each in (schema, field.schema))
        return len(choices) > 1 and choices <= held
    kinds = {main_type(schema), main_type(field.schema)}
    if len(kinds) == 1 and words(argument) == ("to", *words(name)):
        return True
    asked, shown = {*words(argument)}, {*words(name)}
    is_set = {*map(singular, asked)} <= {*noun}  # `allot_beds(beds)` sets the `beds_planned`
    is_part = asked < shown and (is_set or _BOUNDS.isdisjoint(shown - asked))
    return len(kinds) == 1 and kinds <= _NUMBERS and is_part


def _fields_of_act(arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields) -> dict[str, str]:
    """Return the fields that are for the act of a tool alone: `cancellation_reason` for `reason`, beside it."""
    named = {path: words(last_name(path)) for path in arguments}
    acts = {(name[1:], field.name): name[0] for field in known.named.values() if (name := words(snake(field.name)))}
    return {path: field for path, asked in named.items() for (about, field), act in acts.items()
            if asked and about == asked and is_act(features.parsed.word, act)}  # fmt: skip


def _is_of_an_act(argument: str, name: str) -> bool:
    """Whether a field is for an argument of one act only: the `rejection_reason` for the `reason` of an approval."""
    act, asked = words(name)[:1], words(name)[1:]
    return bool(asked) and asked == words(argument) and any(is_act(verb, act[0]) for verb in TRANSITIONS)


def _entered_row(
    arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields, entered: str | None
) -> dict[str, str]:
    """Return the paths of the values of a row that enters the only list of objects with all of them: `lines.sku`.

    Several values are an object in a list with the name of what enters, if nothing shows what is in that.
    """
    needed = frozenset(map(snake, {*arguments} & {*required(features.input)}))
    fields = [field for field in known.fields.values() if needed <= _shown_in(field.schema)] if needed else []
    if entered is None:
        return {}
    if len(fields) != 1:
        several = known.find(plural(entered)) if len(needed) > 1 else None
        is_free = several is not None and main_type(several.schema) == "array" and not items(several.schema)
        return {path: f"{several.name}.{path}" for path in arguments} if several is not None and is_free else {}
    inner = {snake(name): name for name in properties(items(fields[0].schema))}
    return {path: f"{fields[0].name}.{inner[snake(path)]}" for path in arguments if snake(path) in inner}


def _shown_in(schema: Record) -> frozenset[str]:
    """Return the properties of the objects in a list; empty for other values."""
    return frozenset(map(snake, properties(items(schema)))) if main_type(schema) == "array" else frozenset()


def _changed_number(
    arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields, taken: Container[str]
) -> dict[str, str]:
    """Return the argument by which an update changes a number, and the only number that it can be: of a `delta`.

    It is one that the result shows, if that shows fields of the record. Of several it is the one that counts what the
    tool does, or that it is named after, or what is in stock.
    """
    entered = features.entered_amount
    changes = [path for path in arguments if features.calculates(path) is not None or path == entered]
    shown = {*map(snake, properties(features.shape) or properties(features.output))}
    numbers = [field.name for name, field in known.named.items()
               if main_type(field.schema) in _NUMBERS and field.name not in taken
               and name != snake(known.key) and (name in shown or not shown)]  # fmt: skip
    if len(numbers) != 1:
        act = frozenset(map(singular, words(features.tool.name)))
        counted = [name for name in numbers if features.counts(name) is not None]
        named = counted or [name for name in numbers if act.issuperset(map(singular, words(snake(name))))]
        numbers = named or [name for name in numbers if snake(name) in _STOCK]
    return {changes[0]: numbers[0]} if len(changes) == len(numbers) == 1 else {}


def _moved_end(
    arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields, taken: Container[str]
) -> dict[str, str]:
    """Return the duration by which an update moves the end of a record: `extra_days` of `renew_loan`."""
    if features.verb != "update" or features.parsed.word in STRONG:
        return {}
    numbers = (path for path, schema in arguments.items() if main_type(schema) in _NUMBERS)
    paths = [path for path in numbers if last_word(last_name(path)) in _TIME_UNITS]
    texts = (field.name for field in known.named.values() if main_type(field.schema) == "string")
    ends = [name for name in texts if name not in taken and not _ENDS.isdisjoint(words(snake(name)))]
    return {paths[0]: ends[0]} if len(paths) == len(ends) == 1 else {}


def _written_leaves(arguments: Mapping[str, Record], features: ToolFeatures, known: KnownFields) -> dict[str, Record]:
    """Return the arguments by path that may be written: those named like fields, and those that are not options."""
    leaves = dict(find_leaves(arguments, known.entity, known.named.keys()))
    fields, others = _split(leaves, [path for path in leaves if last_name(path) in known.named])
    return _split(leaves, fields.keys() | without_options(others, required(features.input)).keys())[0]


def _is_new_key(features: ToolFeatures, key: str | None, score: int) -> bool:
    """Whether an argument of a create is the key of the new record: a required `<entity>_id`.

    An optional one that begins with the entity replaces the id that the server would make, unless a description means
    another record: "ID of the comment to reply to".
    """
    if features.is_upsert:
        return score > 1
    if key is None or score < 3 or not snake(key).endswith("id"):
        return False
    if key in required(features.input):
        return features.parsed.word in _NAMING
    about = str(property_of(features.input, key).get("description", ""))
    is_own = not about or _GENERATED.search(about) is not None
    return is_own and snake(key) == f"{features.entity}_id"


def _match_fields(leaves: Mapping[str, Record], known: KnownFields, entered: str | None) -> dict[str, str]:
    """Return the field that each argument sets, the first one of several; `*` for an object that holds any fields.

    `entered`: what enters lists by the name of the tool, such as `labels` for a `label`. None: values replace others.
    """
    setters: dict[str, str] = {}
    for path, leaf in leaves.items():
        several = _list_of(last_name(path), known, entered, is_only=len(leaves) == 1) if entered is not None else None
        named = last_name(path)
        exact = known.fields.get(path)  # a name may have dots, or no letters
        field = several or exact or (known.find(named) if named else None)
        if path.endswith("*"):
            setters.setdefault("*", path)
        elif field is not None and _may_hold(field, leaf, known.key):
            setters.setdefault(field.name, path)
    return {path: name for name, path in setters.items()}


def _list_of(argument: str, known: KnownFields, entered: str, *, is_only: bool) -> Field | None:
    """Return the list that a value enters: `label_ids` or `labels` for a `label_id`, `tracks` for a `track_name`.

    Else the list of plain values with the name of what enters: `members` for the `worker_id` or the `name` of
    `add_member`, or for its only value: `allergies` for the `substance` of `add_allergy`.
    """
    noun = noun_of_id(argument)
    several = (known.find(plural(singular(name))) for name in (argument, noun or argument.removesuffix("_name")))
    field = next((field for field in several if field is not None and main_type(field.schema) in {"array", ""}), None)
    is_naming = bool(entered) and (is_only or noun or argument in _NAMES or argument.startswith(f"{entered}_"))
    other = (known.find(plural(entered)) or known.find(entered)) if field is None and is_naming and entered else None
    return other if other is not None and main_type(items(other.schema)) in {"string", "integer", ""} else field


def _only_list(leaves: Mapping[str, Record], known: KnownFields) -> dict[str, str]:
    """Return the only list of plain values of a record for the key that enters or leaves it: `enrolled`."""
    plain = {name: main_type(items(field.schema)) in {"string", "integer"} for name, field in known.fields.items()}
    lists = [name for name, is_plain in plain.items() if is_plain]
    keys = [path for path in leaves if last_name(path) != snake(known.key)]
    return {keys[0]: lists[0]} if len(keys) == len(lists) == 1 else {}


def _may_hold(field: Field, argument: Record, key: str) -> bool:
    """Whether a field can hold the argument: the key holds no objects, no lists, and no texts of another pattern."""
    return field.name != key or (main_type(argument) not in {"object", "array"} and len(_patterns(field, argument)) < 2)


def _patterns(field: Field | None, argument: Record | None) -> set[str]:
    schemas = (field.schema if field is not None else {}, argument or {})
    return {schema["pattern"] for schema in schemas if "pattern" in schema}


def _weakest(bases: Iterable[Basis]) -> Basis:
    """Return the least confidence of several, with all reasons."""
    listed = [*bases]
    reasons = tuple(dict.fromkeys(reason for basis in listed for reason in basis.reasons))
    return Basis("inferred", min((basis.confidence for basis in listed), default=_BY_NAME.confidence), reasons)
