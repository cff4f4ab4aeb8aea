"""What is each argument of each tool for, and which fields do arguments and results tell of?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_sim.infer.arguments import Roles, reading_roles, writing_roles
from mcp_sim.infer.asked_by import field_said, in_part, is_other_field
from mcp_sim.infer.fields import example_told, key_field, says_success, shown_fields, with_declared
from mcp_sim.infer.keys import key_argument, kind_of_ids
from mcp_sim.infer.known import Known
from mcp_sim.infer.looks import Look
from mcp_sim.infer.naming import names_of_records, scoped
from mcp_sim.infer.narrowing import asked_for
from mcp_sim.infer.origins import origin_named
from mcp_sim.infer.states import told_by_verbs
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import at, main_type, properties, required
from mcp_sim.types.lexicon.words import snake, words
from mcp_sim.types.plans import RECORDLESS, Filter

_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_WHY = ("reason", "justification", "rationale")
_ASKS = frozenset({"get", "list", "search"})


def shown(looks: Sequence[Look], declared: Mapping[str, Entity]) -> dict[str, dict[str, Field]]:
    """Every entity's fields, as far as results and declarations tell."""
    shapes: dict[str, list[Record]] = {name: [] for name in declared}
    for look in looks:
        if look.verb not in RECORDLESS and look.single is None:
            whole = look.verb != "delete" and not (look.envelope.record == "" and look.envelope.key is not None)
            shapes.setdefault(look.entity, []).extend([_told_shape(look)] if whole and _is_record(look) else [])
    return {name: _without_alias(name, shown_fields(found), declared.get(name)) for name, found in shapes.items()}


def _without_alias(entity: str, fields: Mapping[str, Field], declared: Entity | None) -> dict[str, Field]:
    """The fields with what is declared; `order_id` beside the `id` of an order is its id again."""
    whole = with_declared(fields, declared)
    if "id" not in {snake(name) for name in whole}:
        return whole
    return {
        name: field for name, field in whole.items() if snake(name) != f"{entity}_id" or _is_declared(name, declared)
    }


def _is_declared(name: str, declared: Entity | None) -> bool:
    return declared is not None and name in declared.fields


def _told_shape(look: Look) -> Record:
    """What a result tells of the record: not whether a write worked. Where nothing is required, everything is usual."""
    parts = properties(look.shape)
    if look.verb in {"create", "update"}:
        told = {"message"} - {snake(name) for name in properties(look.input)}
        left_out = told if len(parts) > 1 and "message" not in look.entity.split("_") else set[str]()
        parts = {n: part for n, part in parts.items() if not says_success(n, part) and snake(n) not in left_out}
    usual = [name for name, part in parts.items() if "optional" not in str(part.get("description", "")).lower()]
    return {"required": usual, **look.shape, "properties": parts}


def _is_record(look: Look) -> bool:
    return main_type(look.shape) == "object" and bool(properties(look.shape))


def roles_and_fields(
    looks: Sequence[Look], shown: Mapping[str, Mapping[str, Field]], declared: Mapping[str, Entity]
) -> tuple[dict[str, Roles], dict[str, dict[str, Field]], dict[str, str]]:
    """The roles of every tool's arguments, the fields with those that only arguments tell of, and the key fields."""
    fields = {name: _with_state(name, parts, looks) for name, parts in shown.items()}
    roles: dict[str, Roles] = {}
    keys = _keys(looks, shown, declared)
    within = scoped(looks, {name: key for name, key in keys.items() if name not in declared})
    keys |= dict.fromkeys(within, "id")
    named = names_of_records(looks, keys, within)
    order = ("create", "update", "get", "list", "search", "delete", *sorted(RECORDLESS))
    for look in sorted(looks, key=lambda look: order.index(look.verb)):
        if look.verb in RECORDLESS:
            roles[look.tool.id] = Roles()
            continue
        if look.single is not None:
            roles[look.tool.id] = Roles(None, look.single.sets)
            continue
        if look.element is not None:
            roles[look.tool.id] = Roles(look.element.key, {look.element.argument: look.element.field})
            continue
        mine = fields[look.entity]
        holder = declared[look.entity].inside if look.entity in declared else None
        if holder is not None:
            known = _known(look.entity, keys[look.entity], mine)
            roles[look.tool.id] = _part_roles(look, known, holder.entity, keys.get(holder.entity, "id"))
            continue
        names = named.get(look.tool.id, frozenset())
        found = _roles_of(look, _known(look.entity, keys[look.entity], mine), names)
        is_shown = bool(shown.get(look.entity))
        added = _added(look, found, mine, {*fields}, declared.get(look.entity), is_shown=is_shown)
        mine.update(added)
        known = _known(look.entity, keys[look.entity], mine)
        roles[look.tool.id] = _roles_of(look, known, names) if added else found
    for name, key in keys.items():
        schema = {"type": "string"} if name in within else _key_schema(looks, name)
        fields[name].setdefault(key, Field(key, schema, required=True))
    return roles, fields, keys


def _with_state(entity: str, fields: Mapping[str, Field], looks: Sequence[Look]) -> dict[str, Field]:
    """The fields, with the state that tools speak of where neither a result nor a declaration tells of fields."""
    mine = [look for look in looks if look.entity == entity and look.verb not in RECORDLESS and look.single is None]
    return dict(fields) if fields else {told.name: told for told in told_by_verbs(mine)}


def _keys(
    looks: Sequence[Look], fields: Mapping[str, Mapping[str, Field]], declared: Mapping[str, Entity]
) -> dict[str, str]:
    arguments: dict[str, list[str]] = defaultdict(list)
    made: dict[str, list[str]] = defaultdict(list)
    for look in looks:
        name = look.key_argument("id") if look.verb in _ONE else None
        if name is not None:
            arguments[look.entity].append(name)
        if look.verb == "create":
            made[look.entity] += [one for one in properties(look.input) if one in required(look.input)]
    return {
        name: key_field(name, declared.get(name), parts, arguments[name], made[name]) for name, parts in fields.items()
    }


def _key_schema(looks: Sequence[Look], entity: str) -> Record:
    asking = (look for look in looks if look.entity == entity and look.verb in _ONE)
    named = ((look, name) for look in asking if (name := look.key_argument("id")) is not None)
    own = [properties(look.input).get(name, {"type": "string"}) for look, name in named]
    if own:
        return next((schema for schema in own if example_told(str(schema.get("description", "")))), own[0])
    referring = (
        part for look in looks for name, part in properties(look.input).items() if snake(name) == f"{entity}_id"
    )
    servers = {look.tool.server for look in looks if look.entity == entity}
    beside = kind_of_ids(look.input for look in looks if look.tool.server in servers)
    return {"type": next((main_type(part) for part in referring if main_type(part)), beside)}


def _known(entity: str, key: str, fields: Mapping[str, Field]) -> Known:
    backwards = [*fields.items()][::-1]
    links = {field.link: name for name, field in backwards if field.link}
    by_name = {snake(name): name for name, _ in backwards}
    return Known(entity, key, by_name, {name: field.schema for name, field in fields.items()}, links, _nested(fields))


def _nested(fields: Mapping[str, Field]) -> dict[str, str]:
    """What stands inside the objects of a record, by its name, where only one of them has it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, field in fields.items():
        inner = properties(field.schema) if main_type(field.schema) == "object" else {}
        if all(main_type(part) not in {"object", "array"} for part in inner.values()):
            for part in inner:
                found[snake(part)].append(f"{name}.{part}")
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def _roles_of(look: Look, known: Known, names: AbstractSet[str]) -> Roles:
    if names:
        return _named_by(look, known, names)
    if look.verb in _MANY:
        return in_part(look, known, reading_roles(look.verb, known, look.input, None))
    if look.verb == "create":
        return writing_roles(known, look.input, origin_named(look, known.key))
    key = look.key_argument(known.key)
    if look.verb == "update":
        return writing_roles(known, look.input, key, look.reading.word)
    if look.verb == "get" and look.said_key is None and key is not None and is_other_field(look, known, key):
        return reading_roles(look.verb, known, look.input, None)
    found = field_said(look, known) if look.verb == "get" and len(properties(look.input)) == 1 else None
    if key is not None and found is not None:
        return Roles(None, filters={key: Filter(found)})
    if key is None:
        return reading_roles(look.verb, known, look.input, None)
    return Roles(key)


def _part_roles(look: Look, known: Known, holder: str, holder_key: str) -> Roles:
    """The roles where records stand inside others: what names the record around them, and then as ever."""
    named, score = key_argument("update", holder, holder_key, look.input)
    outer = named if score > 1 and snake(named or "") not in {"id", "key", "name"} else None
    parts = {name: part for name, part in properties(look.input).items() if name != outer}
    inner: Record = {**look.input, "properties": parts}
    key = look.said_key or key_argument(look.verb, known.entity, known.key, inner)[0] if look.verb in _ONE else None
    if look.verb in {"create", "update"}:
        found = writing_roles(known, inner, key, look.reading.word)
    else:
        found = reading_roles(look.verb, known, inner, key) if look.verb in _MANY else Roles(key)
    return replace(found, holder=outer)


def _named_by(look: Look, known: Known, names: AbstractSet[str]) -> Roles:
    """The roles where these arguments, and no key, tell which record is meant; the others are what an update sets."""
    parts = properties(look.input)
    telling: Record = {**look.input, "properties": {name: part for name, part in parts.items() if name in names}}
    others: Record = {**look.input, "properties": {name: part for name, part in parts.items() if name not in names}}
    asked = reading_roles("get", known, telling, None)
    written = writing_roles(known, others, None, look.reading.word) if look.verb == "update" else Roles()
    unexplained = (*asked.unexplained, *written.unexplained)
    return Roles(None, written.sets, asked.filters, unexplained=unexplained)


def _added(
    look: Look,
    roles: Roles,
    known: Mapping[str, Field],
    entities: set[str],
    declared: Entity | None,
    *,
    is_shown: bool,
) -> dict[str, Field]:
    """Fields that only arguments tell of: all that a create or an update takes, what links a list to a parent or
    narrows it.

    What an update takes besides the fields of records that are given is hardly a field where it names other records, or
    says why.
    """
    added: dict[str, Field] = {}
    is_given = declared is not None and declared.key_like is not None and bool(declared.fields)
    unexplained = [path for path in roles.unexplained if path not in look.settled]
    for path in unexplained:
        if is_given and look.verb == "update" and snake(path).endswith(("_id", "_ids", *_WHY)):
            continue
        name = path.rsplit(".", 1)[-1]
        name = name if look.verb == "create" else _unprefixed(name)
        schema = {word: part for word, part in at(look.input, path).items() if word != "default"}
        scope = snake(name).removesuffix("_id")
        if name in known:
            continue
        if look.verb in {"create", "update"}:
            needed = look.verb == "create" and path in required(look.input)
            added[name] = Field(name, schema, required=needed)
        elif look.verb in _ASKS and scope != look.entity and scope in entities:
            added[name] = Field(name, schema, link=scope)
    asks = look.verb in _MANY or (look.verb == "get" and roles.key is None)
    if not is_given and asks:
        others = [path for path in unexplained if path not in added]
        added |= {one.name: one for one in asked_for(others, look.input, is_shown=is_shown) if one.name not in known}
    return added


def _unprefixed(name: str) -> str:
    """`new_name` and `newName` set the name."""
    parts = words(name)
    if len(parts) < 2 or parts[0] not in {"new", "updated"}:
        return name
    rest = name[len(parts[0]) :].lstrip("_-")
    return rest[:1].lower() + rest[1:]
