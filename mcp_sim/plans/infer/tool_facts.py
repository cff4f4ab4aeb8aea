"""What is known of tools before anything is inferred: each by itself, and all of a server together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from mcp_sim.plans.infer.arguments import GENERAL_KEYS, key_argument
from mcp_sim.plans.infer.envelopes import read_envelope, record_schema
from mcp_sim.plans.infer.evidence import Attribute, Evidence
from mcp_sim.plans.infer.given_state import Given
from mcp_sim.plans.infer.names import ParsedName, Words, noun_spans
from mcp_sim.plans.infer.verbs import QUALIFIERS, STATES, STRONG, WEAK
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import noun_of_id, singular, snake, words
from mcp_sim.types.lexicon.terms import table, terms

_ATTRIBUTES, _ENTERING = terms("nouns.attributes"), table("verbs.entering")
_QUALITIES = _ATTRIBUTES | terms("nouns.generic", "nouns.facets")
_AMOUNTS, _NUMBERS = terms("arguments.amount") - {"value", "sum"}, frozenset({"integer", "number"})
_SHOWING = frozenset({"create", "get", "list", "search"})
_NAMES = re.compile(r"[\w-]+")
_T = TypeVar("_T", bound=Hashable)
_ENVELOPE = terms("results.success")
_FEWEST_SHOWN = 3
"""Results of fewer properties are alike by chance: an id and a name."""


@frozen
class ToolFacts:
    """What is known of a tool by itself. The schemas are expanded."""

    tool: Tool
    parsed: ParsedName
    input: Record
    output: Record
    overrides: Mapping[str, Any]
    """The overrides of its plan in the spec."""
    text: str | None = None
    """The property of its result that holds everything as JSON text."""

    def evidence(self, attribute: Attribute, value: Any, weight: float, reason: str) -> Evidence:
        """Return evidence about this tool."""
        return Evidence(self.tool.id, attribute, value, weight, reason)

    @property
    def may_rename(self) -> bool:
        """Whether it may create something else than its noun, as `book` and `request` do."""
        return self.parsed.verb == "create" and self.parsed.word in WEAK

    @property
    def of_one(self) -> ToolFacts:
        """What is known of the change of one record, if all that the tool takes is a list of objects."""
        needed = [*required(self.input)]
        row = items(property_of(self.input, needed[0])) if len(needed) == 1 else Record()
        return replace(self, input=row) if properties(row) else self

    def takes_key(self, entity: Entity) -> bool:
        """Whether an argument is surely the key of an entity."""
        return key_argument("update", entity.name, entity.key, self.input)[1] >= 2

    def lists_keys(self, argument: str, entity: str) -> bool:
        """Whether an argument is a list of keys of an entity: `loan_ids`."""
        is_list = main_type(property_of(self.input, argument)) == "array"
        return is_list and refers_to(entity, singular(snake(argument)))


@frozen
class ServerFacts:
    """What is known of all tools: the entities of their nouns, those that tools create, and the declared ones.

    `once` are the nouns that only one tool has, `identified` those with ids, `entered` those that tools only add and
    remove.
    """

    nouns: Mapping[Words, str]
    once: frozenset[Words]
    identified: frozenset[str]
    entered: frozenset[Words]
    created: frozenset[str]
    shown: frozenset[str]
    declared: Mapping[str, Entity]
    given: Given
    shapes: Mapping[frozenset[str], str]
    """The entities of records with these properties, as results of tools with sure names show them."""
    keys: Mapping[str, str]
    """The entities that tools get by an argument of this name alone, such as `sku`."""
    sources: Mapping[str, str]
    """The entities of tools that return an id, as descriptions say: "The entry, from log_meal or get_food_log"."""
    contained: frozenset[tuple[str, str]]
    """Nouns of creates, each with that of a record which they require: `comment` and `issue`."""
    lists: Mapping[str, Mapping[str, frozenset[str]]]
    """The lists inside records, by entity: their names, and the properties of the objects in them."""
    made_with: Mapping[str, frozenset[str]]
    """The arguments that the creates of a noun require."""

    @property
    def held(self) -> Container[str]:
        """The entities with given records."""
        return self.given.records

    def parent_arguments(self, entity: str) -> Sequence[set[str]]:
        """Return the arguments that name the parents of given rows: their fields, or what these link to."""
        parents = self.given.parents.get(entity, ())
        fields: Mapping[str, Field] = self.given.entities[entity].fields if parents else {}
        linked = {(fields[name].link if name in fields else None) or name for name in parents}
        return {*map(snake, parents)}, linked

    @staticmethod
    def of(
        parsed_names: Collection[ParsedName],
        declared: Mapping[str, Entity],
        given: Given,
        tools: Sequence[ToolFacts] = (),
    ) -> ServerFacts:
        """Collect the nouns of tools that create, get, list or change something, and what their schemas show."""
        named = [parsed for parsed in parsed_names if parsed.verb != "unknown" and names_records(parsed)]
        counts = Counter(parsed.noun for parsed in named)
        nouns = dict(zip(counts, map("_".join, counts), strict=True)) | {words(name): name for name in declared}
        once = {noun for noun, count in counts.items() if count == 1} - {*map(words, declared)}
        entered = counts.keys() - {name.noun for name in named if name.word not in _ENTERING} - {*map(words, declared)}
        ids = frozenset(noun_of_id(snake(name)) for facts in tools for name in properties(facts.input))
        known = nouns, frozenset(once), ids, frozenset(entered), *_made_and_shown(named), declared, given
        again = [facts for facts in tools if facts.parsed.noun not in once]
        shapes = _unique(_shapes(tools, nouns)) | _unique(
            _shapes(again, nouns)
        )  # `search_catalogue` shows books like `get_book`
        contained = frozenset(pair for facts in tools for pair in _contained(facts))
        by_name = _unique(_keys(tools)), _unique(_sources(tools))
        creates = [facts for facts in tools if facts.parsed.verb == "create" and facts.parsed.noun]
        made_with = {"_".join(facts.parsed.noun): frozenset(map(snake, required(facts.input))) for facts in creates}
        return ServerFacts(*known, shapes, *by_name, contained, _lists(tools, given), made_with)


def _lists(tools: Iterable[ToolFacts], given: Given) -> dict[str, dict[str, frozenset[str]]]:
    """Return the names of the lists inside records, and the properties of the objects in them, by entity."""
    schemas = [
        (name, field.name, field.schema) for name, entity in given.entities.items() for field in entity.fields.values()
    ]
    for facts in tools:
        if facts.parsed.verb in {"create", "get"} and facts.parsed.word in STRONG:
            parts = properties(record_schema(read_envelope("get", "", facts.output), facts.output))
            schemas += [("_".join(facts.parsed.noun), name, schema) for name, schema in parts.items()]
    lists = defaultdict[str, dict[str, frozenset[str]]](dict)
    for entity, name, schema in schemas:
        if main_type(schema) == "array":
            lists[entity][snake(name)] = frozenset(map(snake, properties(items(schema))))
    return lists


def names_records(parsed: ParsedName) -> bool:
    """Whether the noun of a name is a kind of record: not the `status` that is set, nor the `open` that are listed."""
    qualities = _ATTRIBUTES if parsed.verb == "update" else STATES if parsed.verb == "list" else frozenset[str]()
    return not qualities.issuperset(parsed.noun)


def _unique(pairs: Iterable[tuple[_T, str]]) -> dict[_T, str]:
    """Return the value of each key that has only one."""
    by_key = defaultdict[_T, set[str]](set)
    for key, value in pairs:
        by_key[key].add(value)
    return {key: next(iter(values)) for key, values in by_key.items() if len(values) == 1}


def _shapes(tools: Iterable[ToolFacts], nouns: Container[Words]) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the properties of records that tools with sure names show, and the entity."""
    for facts in tools:
        parsed = facts.parsed
        shape = row_shape(facts.output) if parsed.verb in {"list", "search"} else record_shape(facts.output)
        is_added = parsed.after[:1] == ("to",)  # `add_part_to_job` shows the job
        if shape and parsed.noun and parsed.verb in _SHOWING and parsed.word in STRONG and not is_added:
            yield shape, "_".join(without_state(parsed, nouns))


def without_state(parsed: ParsedName, nouns: Container[Words]) -> Words:
    """Return the noun of a list without a state before it, if tools have such records: `order` of `open_orders`."""
    is_stated = parsed.verb == "list" and parsed.noun[:1] and parsed.noun[0] in QUALIFIERS
    return parsed.noun[1:] if is_stated and parsed.noun[1:] in nouns else parsed.noun


def _keys(tools: Sequence[ToolFacts]) -> Iterator[tuple[str, str]]:
    """Yield the only required argument of each tool that surely gets a record, and the entity.

    Words that name records of any entity, such as `id`, say nothing, nor does the id of what another tool creates.
    """
    created = {f"{'_'.join(facts.parsed.noun)}_id" for facts in tools if facts.parsed.verb == "create"}
    for facts in tools:
        asked = [*required(facts.input)]
        is_get = facts.parsed.verb == "get" and facts.parsed.sure and bool(facts.parsed.noun)
        noun = "_".join(facts.parsed.noun)
        if is_get and len(asked) == 1 and snake(asked[0]) not in GENERAL_KEYS | (created - {f"{noun}_id"}):
            yield snake(asked[0]), noun


def _sources(tools: Sequence[ToolFacts]) -> Iterator[tuple[str, str]]:
    """Yield the tools that the description of an id mentions, with its noun, if only one of them creates something."""
    nouns = {facts.tool.name: "_".join(facts.parsed.noun) for facts in tools}
    created = {facts.tool.name for facts in tools if facts.parsed.verb == "create"}
    for facts in tools:
        for name in required(facts.input):
            noun = nouns[facts.tool.name] if name == "id" else noun_of_id(snake(name))
            mentioned = {*_NAMES.findall(str(property_of(facts.input, name).get("description", "")))} & nouns.keys()
            if noun in nouns.values() and len(mentioned & created) == 1:
                yield from ((source, noun) for source in sorted(mentioned))


def _contained(facts: ToolFacts) -> Iterator[tuple[str, str]]:
    """Yield the noun of a create with that of each record which it requires, unless it only names its own."""
    noun = "_".join(facts.parsed.noun)
    if facts.parsed.verb == "create" and not any(refers_to(noun, name) for name in required(facts.input)):
        yield from ((noun, noun_of_id(snake(name))) for name in sorted(required(facts.input)))


def entered_amount(word: str, schema: Record) -> str | None:
    """Return the amount that a tool such as `add_stock(item, quantity)` requires beside what it is an amount of."""
    needed = required(schema)
    numbers = [name for name in needed if main_type(property_of(schema, name)) in _NUMBERS and snake(name) in _AMOUNTS]
    return numbers[0] if word in _ENTERING and len(needed) == 2 and len(numbers) == 1 else None


def keys_among(entity: str, names: Iterable[str], server: ServerFacts) -> set[str]:
    """Return those of some arguments that are keys of an entity."""
    return {name for name in names if refers_to(entity, name) or server.keys.get(name) == entity}


def refers_to(entity: str, argument: str) -> bool:
    """Whether an argument is a key that is named after an entity: `song_id`."""
    schema: Record = {"properties": {argument: {}}, "required": [argument]}
    return snake(argument) not in GENERAL_KEYS | {entity} and key_argument("update", entity, "id", schema)[1] > 1


def record_shape(output: Record) -> frozenset[str]:
    """Return the properties of the record that a result is, or that it has in a wrapper; empty if they are few."""
    return _shape(properties(record_schema(read_envelope("get", "", output), output)))


def row_shape(output: Record) -> frozenset[str]:
    """Return the properties of the rows in the only list of objects of a result; empty if they are few."""
    schemas = [output, *properties(output).values()]
    schemas += [inner for schema in schemas[1:] for inner in properties(schema).values()]
    rows = [shape for schema in schemas if (shape := properties(items(schema)))]
    return _shape(rows[0]) if len(rows) == 1 else frozenset()


def _shape(parts: Record) -> frozenset[str]:
    names = frozenset(map(snake, parts)) - _ENVELOPE
    return names if len(names) >= _FEWEST_SHOWN else frozenset()


def _made_and_shown(named: Iterable[ParsedName]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the entities that tools surely create, and those that they surely create, get, list or search."""
    sure = [("_".join(name.noun), name.verb == "create" and name.after[:1] != ("to",))  # `add_user_to_room`
            for name in named if name.word in STRONG and name.verb in _SHOWING]  # fmt: skip
    return frozenset(name for name, is_made in sure if is_made), frozenset(name for name, _ in sure)


def fields_in_noun(entity: Entity, noun: Words) -> list[Field]:
    """Return the fields of an entity whose names are in a noun: `balance` in `fee_balance`, `enrolled`.

    Of a `balance` and an `owed_balance` it is the latter in `account_owed_balance`.
    """
    fields = [field for field in entity.fields.values() if not field.hidden and field.name != entity.key]
    parts = [(field, {*map(singular, words(snake(field.name)))}) for field in fields]
    named = [(field, names) for field, names in parts if names <= {*noun}]
    return [field for field, names in named if not any(names < others for _, others in named)]


def is_text_in_noun(entity: Entity, field: Field, noun: Words) -> bool:
    """Whether a noun is that of a field with texts, alone or behind the entity: `policy_number`."""
    named = {*noun} - {*words(entity.name)} or {*noun}
    return named == {*map(singular, words(snake(field.name)))} and main_type(field.schema) == "string"


def is_about(noun: Words, entity: Words) -> bool:
    """Whether a noun ends with the entity, or has only attributes besides."""
    return noun[-len(entity) :] == entity or {*noun} - {*entity} <= _QUALITIES


def named_by_keys(schema: Record) -> set[str]:
    """Return the nouns whose key an argument may be: `task` and `task_id` for an argument `task_id`."""
    names = [*map(snake, properties(schema))]
    others = [name.removesuffix(end) for name in names for end in ("_ids", "_key")]
    return {*names, *map(noun_of_id, names), *others} - {""}


def entities_in(noun: Words, declared: Mapping[str, Entity]) -> Iterator[Entity]:
    """Yield the declared entities in a noun, the longest first, then those at its end."""
    spans = sorted(noun_spans(len(noun)), key=lambda span: (span[1] - span[0], span[1]), reverse=True)
    names = ("_".join(noun[start:end]) for start, end in spans)
    return (declared[name] for name in names if name in declared and not declared[name].singleton)
