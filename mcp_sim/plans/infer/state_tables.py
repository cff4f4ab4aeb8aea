"""Make tables of the rows in a given state: their keys, their fields, and the nouns by which tools mention them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from itertools import chain, islice
from typing import cast

from mcp_sim.plans.infer.arguments import frequent_texts, key_argument
from mcp_sim.plans.infer.names import ParsedName, Words, first_nouns, noun_spans
from mcp_sim.plans.infer.verbs import STRONG
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    items,
    main_type,
    properties,
    required,
    schema_of,
    type_name,
)
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import (
    is_id,
    last_word,
    noun_of_id,
    singular,
    singular_phrase,
    snake,
    words,
)
from mcp_sim.types.lexicon.terms import ordered, terms

_COLLECTIONS, _PLACES, _UNITS = terms("nouns.collections"), terms("arguments.place"), terms("arguments.unit")
_PLACE = re.compile(r"\S*\w[./]\w\S*")
"""A path or an address."""
_NOT_PARENTS = terms("arguments.query", "arguments.option", "arguments.limit")
"""Arguments that name no record."""
_WITHIN = frozenset((word,) for word in terms("phrases.within"))
_READS = frozenset({"get", "list", "search"})
MOST_NAMES = 200
"""The most keys of an object that are compared with the nouns of tools. An object with more keys is a table, whose
keys are not entities."""
_CHANGES = terms("arguments.change", "arguments.amount")
_SETTERS = terms("verbs.setting", "verbs.replacing")
_DEPTH = 4
"""How many levels of wrappers have names of parts. Below them are the contents of records."""
ENDINGS = (*ordered("fields.key_ending"), "name")
NAME, VALUE = "name", "value"
"""Fields of rows that are not objects, until a better name is known."""
_FEWEST_DIFFERENT = 0.9
"""The share of rows with different ids, among which random ids may repeat by chance: those of visitors."""
_USUAL_NAMES = terms("fields.given_name")
_PEOPLE, _HANDLES, _SECRETS = terms("nouns.people"), terms("arguments.handle"), terms("fields.secret")
_SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""


@frozen
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers.

    `lookups` are the arguments by which tools get or delete one record, by its noun: `symbol` of a stock, `together`
    those that only several of them name it by: a grade by `student_id` and `assignment_id`. `asked` are
    the arguments that tools which read records of a noun require, `entered` those that tools which add to them require,
    `replaced` those of the tools among these that set values.
    `lists` are arguments with lists, `usual` the texts that several tools require, the most frequent ones first.
    `shapes` are the properties of the objects in results, `members` the nouns of what tools list of another one, add to
    it or remove from it, `described` the nouns of tools that mention a part of the state in their descriptions.
    """

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    lookups: Mapping[str, str] = field(default_factory=dict[str, str])
    together: Mapping[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    shapes: frozenset[frozenset[str]] = frozenset()
    entered: Mapping[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])
    replaced: Mapping[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])
    members: Mapping[str, str] = field(default_factory=dict[str, str])
    described: Mapping[str, str] = field(default_factory=dict[str, str])
    usual: Sequence[str] = ()
    lists: frozenset[str] = frozenset()

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts, whole = words(name), "".join(words(name))
        if whole in self.names:
            return whole  # tools write `watchlist`, the state `watch_list`
        while len(parts) > 1 and parts[-1] in _COLLECTIONS | _UNITS:  # `harvest_kg` of a harvest
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def placed(self, name: str, keys: Collection[str]) -> str | None:
        """Return the only noun that tools look up by a place, for a table of places: `page`s for `web_content`."""
        are_places = bool(keys) and all(_PLACE.fullmatch(key) for key in islice(keys, MOST_NAMES))
        nouns = [noun for noun, argument in self.lookups.items() if argument in _PLACES and noun in self.names]
        whole = [noun for noun in nouns if not any(other.endswith(f"_{noun}") for other in nouns)]
        return whole[0] if are_places and len(whole) == 1 and not self.includes(name) else None

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_names(state: Json, depth: int = _DEPTH) -> frozenset[Words]:
    """Return the names of the parts of a given state, in the singular."""
    parts = as_object(state) if len(as_object(state)) <= MOST_NAMES else {}
    inner = (collect_names(value, depth - 1) for value in parts.values() if depth)
    return frozenset(words(singular_phrase(words(name))) for name in parts).union(*inner)


def collect_nouns(
    parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool], parts: Iterable[Words] = ()
) -> Nouns:
    """Collect the nouns that names of tools and of id arguments mention, and the arguments. Both are by tool id.

    `parts` are the names of the parts of the state.
    """
    names: set[str] = set()
    for parsed in parsed_names.values():
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    taken = [(snake(name), schema) for tool in tools.values() for name, schema in properties(tool.input_schema).items()]
    names |= {noun_of_id(name) for name, _ in taken} - {""}
    numbers = frozenset(name for name, schema in taken if main_type(schema) in {"integer", "number"})
    schemas = [(parsed, tools[id_].input_schema) for id_, parsed in parsed_names.items()]
    arguments, known = frozenset(name for name, _ in taken), frozenset(names - terms("nouns.generic"))
    outputs = [tool.output_schema for tool in tools.values() if tool.output_schema is not None]
    shapes = frozenset(shape for output in outputs for shape in _shapes(expanded(output)))
    described = _described(parsed_names, tools, {"_".join(part) for part in parts})
    members = dict(pair for parsed in parsed_names.values() for pair in _members(parsed))
    lookups, asked, entered = dict(_lookups(schemas)), _asked(schemas), _entered(schemas)
    together = {noun: frozenset(names) for noun, names in _needed(schemas) if len(names) > 1}
    replaced = _entered((parsed, schema) for parsed, schema in schemas if _replaces(parsed))
    usual = frequent_texts(schema for _, schema in schemas)
    lists = frozenset(name for name, schema in taken if main_type(schema) == "array")
    asking = (known, arguments, numbers, lookups, together, asked)
    return Nouns(*asking, shapes, entered, replaced, members, described, usual, lists)


def _replaces(parsed: ParsedName) -> bool:
    """Whether what a tool takes becomes the value of its noun: not so the hours of `complete_shift(id, hours)`."""
    return parsed.verb == "create" or parsed.word in _SETTERS or STRONG.get(parsed.word) == "update"


def _entered(tools: Iterable[tuple[ParsedName, Record]]) -> dict[str, frozenset[str]]:
    """Return what tools that create or update require, by the noun of what they write or add to."""
    writes = [(parsed, schema) for parsed, schema in tools if parsed.verb in {"create", "update"}]
    return {
        "_".join(noun): frozenset(map(snake, required(schema)))
        for parsed, schema in writes
        for noun in (parsed.noun, parsed.after[1:])
        if noun
    }


def _members(parsed: ParsedName) -> Iterator[tuple[str, str]]:
    """Yield a noun with that of what is in it: `section` and `member` of `section_members`, `add_member_to_section`."""
    if parsed.after[:1] in _WITHIN and parsed.noun and parsed.after[1:]:
        yield singular_phrase(parsed.after[1:]), "_".join(parsed.noun)
    elif parsed.plural and len(parsed.noun) > 1:
        yield "_".join(parsed.noun[:-1]), parsed.noun[-1]


def _described(
    parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool], parts: AbstractSet[str]
) -> dict[str, str]:
    """Return the parts of the state that descriptions of tools about one noun mention: `fleet` of all ships.

    One tool is enough if it lists.
    """
    mentioned = defaultdict[str, list[ParsedName]](list)
    for id_, parsed in parsed_names.items():
        about = {*map(singular, words(tools[id_].description.partition("\n")[0].lower()))}
        for part in about & parts if parsed.noun else ():
            mentioned[part].append(parsed)
    several = {part: mine for part, mine in mentioned.items() if len(mine) > 1 or mine[0].verb == "list"}
    nouns = {part: {"_".join(parsed.noun) for parsed in mine} for part, mine in several.items()}
    return {part: next(iter(names)) for part, names in nouns.items() if len(names) == 1}


def _shapes(schema: Record) -> Iterator[frozenset[str]]:
    """Yield the properties of the objects in a schema."""
    parts = properties(schema)
    yield from [frozenset(parts)] if parts else ()
    for inner in (*parts.values(), items(schema)):
        yield from _shapes(inner) if inner else ()


def _asked(tools: Iterable[tuple[ParsedName, Record]]) -> dict[str, list[str]]:
    """Return the arguments that reading tools require, by their nouns, without those that search or page."""
    asked: dict[str, list[str]] = defaultdict(list)
    for parsed, schema in tools:
        needed = {*map(snake, required(schema))} if may_read(parsed) else set[str]()
        for noun in {"_".join(parsed.noun), parsed.noun[-1], *parsed.after[-1:]} if parsed.noun else ():
            asked[noun] += sorted(needed - _NOT_PARENTS)
    return asked


def may_read(parsed: ParsedName) -> bool:
    """Whether a name has a verb that reads, or none: `customer_rebate(customer)`."""
    return parsed.verb in _READS or (parsed.verb == "unknown" and not parsed.word and not parsed.recordless_verb)


def _lookups(tools: Iterable[tuple[ParsedName, Record]]) -> Iterator[tuple[str, str]]:
    """Yield the nouns of tools that get or delete one record, with the argument that names it.

    It may be the key of something else: a manager by `employee_id`. Of several, it is the last: a grade by `course`
    and `student`.
    """
    for parsed, schema in tools:
        argument, _ = key_argument(parsed.verb, "_".join(parsed.noun), "id", schema)
        is_named = argument is not None and last_word(argument) != "id"
        needed = [snake(argument or "")] if is_named else _needed_names(parsed, schema)[-1:]
        yield from ((noun, name) for noun in _nouns_of_one(parsed) for name in needed)


def _needed(tools: Iterable[tuple[ParsedName, Record]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the nouns of tools that get one record, with all arguments that these require."""
    for parsed, schema in tools:
        yield from ((noun, _needed_names(parsed, schema)) for noun in _nouns_of_one(parsed))


def _nouns_of_one(parsed: ParsedName) -> Iterable[str]:
    """Return the nouns of a tool that gets or deletes one record, none for other tools."""
    is_one = parsed.verb == "delete" or (may_read(parsed) and parsed.verb not in {"list", "search"})
    is_one = is_one and not parsed.plural and parsed.after[:1] != ("by",)
    return dict.fromkeys(("_".join(parsed.noun), *parsed.noun[-1:])) if is_one else ()


def _needed_names(parsed: ParsedName, schema: Record) -> list[str]:
    """Return the arguments that a read requires, without those that search or page."""
    needed = [snake(name) for name in properties(schema) if name in required(schema)]
    return [name for name in needed if name not in _NOT_PARENTS] if parsed.verb != "delete" else []


@frozen
class Rows:
    """The rows of a table, each with the keys around it: those of its parents, and its own if `keyed`.

    `plain` is the field of rows that the state has as plain values; empty if they are objects.
    """

    rows: Sequence[tuple[tuple[str, ...], Record]]
    keyed: bool = False
    plain: str = ""

    @property
    def bodies(self) -> list[Record]:
        return [body for _, body in self.rows]

    @property
    def own_keys(self) -> list[str]:
        return [outer[-1] for outer, _ in self.rows] if self.keyed else []

    @property
    def levels(self) -> int:
        """The number of parents around each row."""
        return len(self.rows[0][0]) - self.keyed if self.rows else 0

    def parents(self, level: int) -> list[str]:
        """Return the parent of each row."""
        return [outer[level] for outer, _ in self.rows]


def inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []


def listed_rows(values: Sequence[Json], *, may_be_names: bool) -> Rows | None:
    """Return the rows of a list of similar objects, or of different names."""
    listed = [as_object(row) for row in values]
    if all(listed):
        return Rows([((), row) for row in listed]) if are_alike(listed) else None
    names = [value for value in values if is_key(value)]
    are_names = may_be_names and len({*names}) == len(values)
    return Rows([((), {NAME: name}) for name in names], plain=NAME) if are_names else None


def make_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys.

    Keys outside the rows become a field, visible if tools have an argument of that name.
    """
    if rows.plain:
        return _plain_table(nouns, entity, rows)
    records, own_keys = rows.bodies, rows.own_keys
    fields = infer_fields(records)
    repeated = (
        name for name in fields if all(str(row.get(name)) == at for row, at in zip(records, own_keys, strict=True))
    )
    together = nouns.together.get(entity, frozenset())
    is_composite = together <= {*map(snake, fields)}
    alone = {name: field for name, field in fields.items() if not (is_composite and snake(name) in together)}
    usual = [name for name in nouns.usual if name not in nouns.names]  # else it may be a link
    key = next(repeated, None) if own_keys else find_key(entity, alone, records, nouns.lookups.get(entity), usual)
    taken = next((name for name in _id_names(entity) if name in nouns.arguments and not own_keys), None)
    is_name = taken is not None and key is not None and snake(key) in {"name", "title"}
    if key is not None and identifies(key, records) and not is_name:
        return Entity(entity, key, records[-1][key], fields), records
    if not records:
        return Entity(entity), []
    named = _outer_key_name(nouns, entity, fields) if own_keys else None
    own_id = next((name for name in (*_id_names(entity), "id") if name in fields and identifies(name, records)), None)
    is_asked = snake(own_id or "") in nouns.arguments  # then tools look rows up by the keys outside
    if own_keys and named is None and own_id and not is_asked and all(str(at).isdecimal() for at in own_keys):
        return Entity(entity, own_id, records[-1][own_id], fields), records  # the keys outside only count the rows
    is_list = [main_type(field.schema) for field in fields.values()] == ["array"]
    if own_keys and named is None and is_list:
        named = NAME  # a list needs the name that it is under
    keys = outer_keys(own_keys, are_numbers=named in nouns.numbers)
    if len({*own_keys}) == len(own_keys) > 0:
        are_outside = not rows.levels and not is_list
        return with_outer_keys(Entity(entity, fields=fields), named, keys, records, are_outside=are_outside)
    if own_keys and (word := named or NAME) not in fields:  # keys that differ under each parent only
        records = [{word: at, **row} for at, row in zip(keys, records, strict=True)]
    names = ("id", taken) if taken else ()  # what tools take, servers issue and show
    shown = next((name for name in names if name not in fields), None)
    numbers = range(1, len(records) + 1)
    keys = [*numbers] if shown is None or taken in nouns.numbers else [f"{entity}_{at:05}" for at in numbers]
    return with_outer_keys(Entity(entity, fields=infer_fields(records)), shown, keys, records)


def _id_names(entity: str) -> tuple[str, str]:
    return f"{entity}_id", f"{last_word(entity)}_id"


def _plain_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of names, or of values under names."""
    values = [body[rows.plain] for body in rows.bodies]
    usual = _outer_key_name(nouns, entity, {}) if rows.keyed or not rows.levels else None
    named = usual or NAME
    names: list[Json] = [*rows.own_keys] if rows.keyed else [body[NAME] for body in rows.bodies]
    records: list[Record] = [{named: at} for at in outer_keys(names, are_numbers=named in nouns.numbers)]
    kind = int if named in nouns.numbers else str
    if rows.keyed and _are_ids(values, kind) and not _are_ids(names, str) and last_word(named) in ENDINGS[:-1]:
        records = [{named: value, NAME: at} for value, at in zip(values, names, strict=True)]
    elif rows.keyed:
        word = _value_name(nouns, entity, named, values)
        records = [{**record, word: value} for record, value in zip(records, values, strict=True)]
    fields = infer_fields(records)
    if identifies(named, records):
        return Entity(entity, named, records[-1][named], fields, natural=True), records
    return with_outer_keys(Entity(entity, fields=fields), None, [*range(1, len(records) + 1)], records)


def _are_ids(values: Sequence[Json], kind: type[str | int]) -> bool:
    """Whether all values are different and look like ids: they are of a type, have digits, and no spaces."""
    texts = [str(value) for value in values if isinstance(value, kind) and not isinstance(value, bool)]
    are_ids = all(any(map(str.isdigit, text)) and not any(map(str.isspace, text)) for text in texts)
    return len({*texts}) == len(values) and are_ids


def _value_name(nouns: Nouns, entity: str, key: str, values: Sequence[Json]) -> str:
    """Return the field of the values under names: `price` of a symbol, the `name` of an id, else `value`.

    Results that show the name and one thing besides name it, and so do tools that set the one by the other.
    """
    shown = {name for shape in nouns.shapes if len(shape) == 2 and key in shape for name in shape - {key}}
    shown = shown or _entered_values(nouns, entity, key)
    if len(shown) == 1:
        return shown.pop()
    word = last_word(entity)
    if word not in words(key) and key != NAME:
        return word
    are_names = key != NAME and last_word(key) != NAME and all(isinstance(value, str) for value in values)
    return NAME if are_names else VALUE


def _entered_values(nouns: Nouns, entity: str, key: str) -> set[str]:
    """Return the arguments with values under names: `on` of `set_light_state(name, on)`."""
    writes = [names for noun, names in nouns.replaced.items() if noun == entity or noun.startswith(f"{entity}_")]
    values = [names - {key, *nouns.asked.get(entity, ())} for names in writes if key in names]
    return {name for names in values if len(names) == 1 for name in names} - _CHANGES


def outer_keys(keys: Sequence[Json], *, are_numbers: bool) -> list[Json]:
    is_whole = are_numbers and all(str(at).isdecimal() for at in keys)
    return [int(str(at)) if is_whole else at for at in keys]


def with_outer_keys(
    entity: Entity, named: str | None, keys: Sequence[Json], rows: Sequence[Record], *, are_outside: bool = False
) -> tuple[Entity, list[Record]]:
    """Return a table whose keys are added to its rows, first in each. They are hidden unless tools name them."""
    key = named or ("id" if "id" not in entity.fields else "row")
    outer = Field(key, {"type": type_name(keys[0])}, required=True, hidden=named is None, is_outside=are_outside)
    keyed: list[Record] = [{key: at, **row} for at, row in zip(keys, rows, strict=True)]
    return Entity(entity.name, key, keyed[-1][key], {key: outer, **entity.fields}), keyed


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    asked = nouns.lookups.get(entity, "")
    last = entity.rsplit("_", 1)[-1]  # a plate by which tools block it
    shortened = (*(f"{last}_{ending}" for ending in ENDINGS), last) if last != entity else ()
    named = NAME if NAME in nouns.entered.get(entity, ()) else entity  # `create_group(name)` for `get_members(group)`
    are_people = last in _PEOPLE or not _SECRETS.isdisjoint(map(last_word, fields))
    handle = next((name for name in nouns.usual if name in _HANDLES), "")  # `get_balance(username)` of an account
    asked, handle = (asked, handle) if are_people else ("" if asked == handle else asked, "")
    names = (*(f"{entity}_{ending}" for ending in ENDINGS), asked, "id", handle, named, entity, *shortened, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def find_key(
    entity: str,
    fields: Mapping[str, Field],
    rows: Sequence[Record],
    lookup: str | None = None,
    usual: Sequence[str] = (),
) -> str | None:
    """Return the field that identifies rows, by its name, or None.

    Tools ask for records by the `lookup`, and several require the `usual` texts: the `plate` that each vehicle begins
    with, not its `customer_id`.
    """
    by_name = {snake(name): name for name in reversed([*fields])}
    nouns = (entity, entity.rsplit("_", 1)[-1])
    named = [f"{noun}_{ending}" for noun in nouns for ending in ENDINGS]
    ids = [snake(name) for name in fields if snake(name).endswith(("_id", "_key"))]
    first = [name for name in (*ids, *usual) if name == snake(next(iter(fields), ""))]
    names = (*ordered("fields.given_key"), *first, *ordered("fields.given_name"), *ids)
    likely = ("id", *named, lookup, *names)
    return next((by_name[name] for name in likely if name in by_name and identifies(by_name[name], rows)), None)


def noun_of_rows(nouns: Nouns, entity: str, rows: Rows, siblings: Container[str]) -> str | None:
    """Return the noun of tools that the rows of a table name which no tool mentions.

    It begins the name of the table, and the rows have ids of it: `leave_requests`. Or it is that of their first or only
    id, `customer_id` in `crm_data`, or of the only text that may name them: the `message`s of an `inbox`.
    """
    bodies = rows.bodies
    if entity in nouns.names or not bodies or rows.plain:
        return None
    ids = [f"{'_'.join(noun)}_id" for noun in first_nouns(tuple(entity.split("_")))]
    first, keys = next(iter(bodies[0]), ""), [name for name in bodies[0] if is_id(snake(name))]
    own = first if first in keys or len(keys) != 1 else keys[0]
    ids += [own] if noun_of_id(snake(own)) not in siblings else []
    issued = (noun_of_id(snake(name)) for name in ids if identifies(name, bodies, _FEWEST_DIFFERENT))
    by_id = next((noun for noun in issued if noun in nouns.names), None)
    text = "" if last_word(entity) in _PEOPLE else snake(naming_field(nouns, bodies) or "")
    is_text = text != "" and text not in siblings and len(bodies) > 1
    return text if is_text and (by_id is None or text in nouns.entered) else by_id


def naming_field(nouns: Nouns, rows: Sequence[Record]) -> str | None:
    """Return the only text by which rows without a usual name are named, as tools do: the `product` of a price.

    It is different in each row. Ids may be those of other records: the `sender_id` of a `message`.
    """
    names = {name: field for name, field in infer_fields(rows).items() if not is_id(snake(name))}
    names = {name: field for name, field in names.items() if last_word(name) not in _SECRETS}
    if not names or find_key("", names, rows) is not None:
        return None
    texts = [name for name in names if isinstance(rows[0].get(name), str) and snake(name) in nouns.names]
    named = [name for name in texts if snake(name) not in _USUAL_NAMES and identifies(name, rows)]
    single = [name for name in named if snake(name) in nouns.lookups.keys() | nouns.entered.keys()]
    named = single if len(named) > 1 else named  # the `message`, not the `time`, that tools send
    return named[0] if len(named) == 1 else None


def identifies(name: str, rows: Sequence[Record], least: float = 1) -> bool:
    """Whether at least this share of the rows have different texts or whole numbers in a field."""
    values = [row.get(name) for row in rows]
    return bool(values) and all(map(is_key, values)) and len({*map(str, values)}) >= least * len(values)


def infer_fields(rows: Sequence[Record]) -> dict[str, Field]:
    """Return the fields of the rows with their types. A field is required if every row has it."""
    looked_at = rows[:_SAMPLE_SIZE]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """Return a field with the types of its values, and the shape of the first one that is not empty.

    Other values may lack parts of it.
    """
    there = [value for value in values if value is not None]
    first = next((value for value in there if value not in ({}, [])), next(iter(there), None))
    schema = {word: value for word, value in schema_of(first).items() if word != "required"}
    types = dict.fromkeys(map(type_name, values))
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def have_common_fields(rows: Sequence[Record]) -> bool:
    """Whether there are several objects, and half of their fields are in all of them."""
    looked_at = [row.keys() for row in rows[:_SAMPLE_SIZE]]
    return len(rows) > 1 and 2 * len(set[str].intersection(*map(set, looked_at))) >= len({*chain(*looked_at)})


def are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    return bool(whole) and 2 * sum(map(len, looked_at)) >= len(whole) * len(looked_at)


def texts_in(value: Json) -> Iterator[str]:
    """Yield the texts in a state, and the keys of records."""
    if isinstance(value, str):
        yield value
    rows = [as_object(row) for row in as_object(value).values()]
    if all(rows) and have_common_fields(rows):
        yield from as_object(value)
    parts = as_object(value).values() if isinstance(value, dict) else as_list(value)
    for inner in parts:
        yield from texts_in(inner)
