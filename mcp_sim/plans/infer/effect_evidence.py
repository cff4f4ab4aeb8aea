"""Evidence of the verb and the entity of a tool: its name, its description, its schemas, other tools, the spec."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeVar

from mcp_sim.plans.infer.arguments import LIMITS
from mcp_sim.plans.infer.envelopes import read_envelope, record_schema
from mcp_sim.plans.infer.given_state import Given, Membership
from mcp_sim.plans.infer.keys import GENERAL_KEYS, key_argument
from mcp_sim.plans.infer.names import (
    ParsedName,
    Words,
    first_nouns,
    last_nouns,
    noun_spans,
    parse_noun_phrase,
)
from mcp_sim.plans.infer.state_tables import may_read
from mcp_sim.plans.infer.verbs import QUALIFIERS, STATES, STRONG, WEAK
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required, required_among
from mcp_sim.types.lexicon.english import last_word, noun_of_id, participle, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import groups, table, terms
from mcp_sim.types.plans import Basis, Source

NO_NOUNS = terms("nouns.generic")
_ATTRIBUTES = terms("nouns.attributes")
_QUALITIES = _ATTRIBUTES | NO_NOUNS | terms("nouns.facets")
_DETAILS, _LISTS = terms("nouns.details", "nouns.facets"), terms("phrases.lists")
_ENDINGS_OF_ACTS = ("ing", "ation", "ment", "al", "ion", "ission")
"""What turns a verb into the noun of what it makes: `booking`, `reservation`, `enrolment`, `rental`."""
_NAMES = re.compile(r"[\w-]+")
_T = TypeVar("_T", bound=Hashable)
_ENVELOPE = terms("results.success")
_STATES, _STATE_VERBS = terms("fields.state"), frozenset(groups("states.after"))
_CALLED_OFF, _ENTERING = terms("verbs.calling_off"), table("verbs.entering")
_INTO = frozenset({("to",), ("into",), ("from",)})
_FEWEST_SHOWN = 3
"""Results of fewer properties are alike by chance: an id and a name."""
_SCALAR, _SHOWING = frozenset({"string", "integer", ""}), frozenset({"create", "get", "list", "search"})
Attribute = Literal["verb", "entity", "key", "fields", "result"]
"""What evidence is about: a field of a plan, the fields that arguments set or filter by, or the form of the result."""

CERTAIN = 10.0
"""The weight of what a spec declares: more than all that can be inferred."""

_MOST, _LEAST = 0.99, 0.05
"""The bounds of the confidence in what is inferred. No inference is certain, and a verb that a name contradicts stays
possible."""


@frozen
class Evidence:
    """A reason to believe that an attribute of a tool has a value; with a negative weight, a reason to doubt it."""

    tool: str
    """The id of the tool."""
    attribute: Attribute
    value: Any
    weight: float
    reason: str
    source: Source = "inferred"


def choose(evidence: Iterable[Evidence], attribute: Attribute, otherwise: Any) -> Any:
    """Return the value of an attribute with the greatest sum of weights, the first of equals.

    `otherwise` is returned if nothing speaks for any value.
    """
    sums: dict[Any, float] = defaultdict(float)
    for reading in evidence:
        if reading.attribute == attribute:
            sums[reading.value] += reading.weight
    best = max(sums, key=lambda value: sums[value], default=otherwise)
    return best if sums.get(best, 0.0) > 0 else otherwise


def supporting(evidence: Iterable[Evidence], attribute: Attribute, value: Any) -> list[Evidence]:
    """Return the evidence for and against a value of an attribute."""
    return [reading for reading in evidence if reading.attribute == attribute and reading.value == value]


def basis_of(evidence: Sequence[Evidence]) -> Basis:
    """Return the basis of values that this evidence supports. Its confidence is the sum of the weights, 0 to 1."""
    certain = any(reading.source == "declared" for reading in evidence)
    confidence = 1.0 if certain else round(min(_MOST, max(_LEAST, sum(reading.weight for reading in evidence))), 2)
    reasons = tuple(dict.fromkeys(reading.reason for reading in evidence))
    return Basis("declared" if certain else "inferred", confidence, reasons)


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
    made: frozenset[str]
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

    @property
    def held(self) -> Container[str]:
        """The entities with given records."""
        return self.given.records

    @staticmethod
    def of(
        parsed_names: Collection[ParsedName],
        declared: Mapping[str, Entity],
        given: Given,
        tools: Sequence[ToolFacts] = (),
    ) -> ServerFacts:
        """Collect the nouns of tools that create, get, list or change something, and what their schemas show."""
        named = [parsed for parsed in parsed_names if parsed.verb != "unknown" and _names_records(parsed)]
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
        return ServerFacts(*known, shapes, _unique(_keys(tools)), _unique(_sources(tools)), contained)


def _names_records(parsed: ParsedName) -> bool:
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
        if shape and parsed.noun and parsed.verb in _SHOWING and parsed.word in STRONG:
            yield shape, "_".join(_without_state(parsed, nouns))


def _without_state(parsed: ParsedName, nouns: Container[Words]) -> Words:
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
    if facts.parsed.verb == "create" and not any(_refers_to(noun, name) for name in required(facts.input)):
        yield from ((noun, noun_of_id(snake(name))) for name in sorted(required(facts.input)))


def _refers_to(entity: str, argument: str) -> bool:
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
    sure = [
        ("_".join(name.noun), name.verb == "create") for name in named if name.word in STRONG and name.verb in _SHOWING
    ]
    return frozenset(name for name, is_made in sure if is_made), frozenset(name for name, _ in sure)


def read_entity(facts: ToolFacts, server: ServerFacts) -> Iterator[Evidence]:
    """Yield evidence of the entity that a tool works on.

    Each reader outweighs all later ones together.
    """
    if "entity" in facts.overrides:
        yield Evidence(facts.tool.id, "entity", facts.overrides["entity"], CERTAIN, "declared in the spec", "declared")
    for (read, reason), weight in zip(_ENTITY_READERS, _HALVED, strict=True):
        entity = read(facts, server)
        if entity is not None:
            yield facts.evidence("entity", entity, weight, reason)


def _holder_of_list(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given record whose list a tool reads or changes: `section` of `add_member_to_section`.

    So it is of `add_section_member` and `list_section_members`.
    """
    noun, is_entering = facts.parsed.noun, facts.parsed.word in _ENTERING
    owners = sorted(_named_by_keys(facts.input)) if is_entering else ["_".join(noun[:-1])]
    for entity in (server.given.entities[owner] for owner in owners if owner in server.held):
        own = words(entity.name)
        part = plural("_".join(noun[len(own) :] if noun[: len(own)] == own else noun))
        if part in entity.fields and main_type(entity.fields[part].schema) == "array" and _takes_key(facts, entity):
            return entity.name
    return None


def _source(facts: ToolFacts, server: ServerFacts) -> str | None:
    return server.sources.get(facts.tool.name)


def _collection(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the record that a tool adds another one to, or removes it from: `playlist` of `add_song_to_playlist`.

    The other one exists beside it, or the result is the changed record: its key is all that the tool takes besides.
    """
    noun, after = "_".join(facts.parsed.noun), facts.parsed.after
    owner = server.nouns.get(parse_noun_phrase(after[1:]).noun) if after[:1] in _INTO else None
    is_part = (noun, owner) in server.contained and server.shapes.get(record_shape(facts.output)) != owner
    if facts.parsed.word not in _ENTERING or owner is None or is_part:
        return None
    names = [snake(name) for name in required(facts.input)]
    others = [name for name in names if not _refers_to(owner, name)]
    return owner if len(others) == 1 < len(names) and _refers_to(noun, others[0]) else None


def _same_shape(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose records the result has the properties of, if the verb of the name is not a sure one."""
    is_sure = facts.parsed.word in STRONG and facts.parsed.noun in server.nouns and facts.parsed.verb != "update"
    return None if is_sure else server.shapes.get(record_shape(facts.output))


def _same_rows(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose records a list has, if no other tool is about its noun: `search_catalogue` of books."""
    is_other = facts.parsed.verb in {"list", "search"} and facts.parsed.noun in server.once
    return server.shapes.get(row_shape(facts.output)) if is_other else None


def _of_members(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given membership whose fields a tool takes, or one of them if it reads the other one's records."""
    asked = {*map(snake, required(facts.input))}
    return next(
        (
            name
            for name, membership in server.given.memberships.items()
            if asked == {*membership.fields}
            or (asked and asked <= {*membership.fields} and _reads_other(facts, membership, asked))
        ),
        None,
    )


def _listed_as(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given list of names of those to which a verb was done: `blocked_user` for `unblock_user`."""
    word, noun = facts.parsed.word.removeprefix("un"), "_".join(facts.parsed.noun)
    names = [f"{state}_{noun}" for state in (participle(word), word)] if word and noun else []
    listed = [name for name in names if name in server.held and len(server.given.entities[name].fields) == 1]
    return listed[0] if listed and facts.parsed.verb == "update" else None


def _reads_other(facts: ToolFacts, membership: Membership, asked: AbstractSet[str]) -> bool:
    noun = "_".join(facts.parsed.noun)
    others = {entity for field, entity in membership.fields.items() if field not in asked}
    return may_read(facts.parsed) and any(noun.endswith(entity) for entity in others if entity)


def _of_parent(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given rows of the parent that an argument names: the `queue` of `tank_queue(tank)`.

    A history consists of what the description mentions first.
    """
    asked = {*map(snake, required(facts.input))}
    rows = ["_".join(noun) for noun in last_nouns(facts.parsed.noun[1:])]
    if facts.parsed.verb == "list" and last_word(facts.tool.name) in _LISTS:
        rows.append(_in_description(facts, server) or "")
    return next((name for name in rows if asked and asked == server.given.parents.get(name)), None)


def _verb_as_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the noun of the verb of a create, if other tools have it: `book_room` creates a booking.

    Where both are one word, the description has to say so: `request_leave` creates a request.
    """
    parsed, mentioned = facts.parsed, words(facts.tool.description.partition("\n")[0].lower())[1:]
    if not _may_rename(facts):
        return None
    stem = parsed.word.removesuffix("e")
    done = next((server.nouns[stem + end,] for end in _ENDINGS_OF_ACTS if (stem + end,) in server.nouns), None)
    is_meant = parsed.noun in server.once and parsed.word in mentioned
    return done or (server.nouns.get((parsed.word,)) if is_meant else None)


def _may_rename(facts: ToolFacts) -> bool:
    """Whether a tool may create something else than its noun, as `book` and `request` do."""
    return facts.parsed.verb == "create" and facts.parsed.word in WEAK


def _declared_in_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the declared entity in a longer noun: the one that an argument names, or the last one.

    `order` in `pending_order_address` with an `order_id`, `user` in `user_id`. Creates and the whole noun win.
    """
    parsed = facts.parsed
    if parsed.verb == "create" or "_".join(parsed.noun) in server.declared:
        return None
    entities = [*_entities_in(parsed.noun, server.declared)]
    keyed = (entity.name for entity in entities if key_argument("update", entity.name, entity.key, facts.input)[1] >= 2)
    named = None if parsed.verb in {"list", "search", "delete"} else next(keyed, None)
    return named or next((entity.name for entity in entities if _is_about(parsed.noun, words(entity.name))), None)


def _entities_in(noun: Words, declared: Mapping[str, Entity]) -> Iterator[Entity]:
    """Yield the declared entities in a noun, the longest first, then those at its end."""
    spans = sorted(noun_spans(len(noun)), key=lambda span: (span[1] - span[0], span[1]), reverse=True)
    names = ("_".join(noun[start:end]) for start, end in spans)
    return (declared[name] for name in names if name in declared and not declared[name].singleton)


def _is_about(noun: Words, entity: Words) -> bool:
    """Whether a noun ends with the entity, or has only attributes besides."""
    return noun[-len(entity) :] == entity or {*noun} - {*entity} <= _QUALITIES


def _part_of_noun(facts: ToolFacts, server: ServerFacts) -> Words:
    """Return the noun without a field at its end, or a state before it: `order` of `order_status`, `open_orders`."""
    noun = facts.parsed.noun
    is_whole = "_".join(noun) in server.declared or "_".join(noun) in server.identified
    noun = noun if is_whole else _without_state(facts.parsed, server.nouns)
    shortens = facts.parsed.verb in {"update", "get"} and not is_whole
    return noun[:-1] if shortens and len(noun) > 1 and noun[-1] in _ATTRIBUTES else noun


def _second_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the second of the two entities that a noun consists of: `assignment` of `course_assignment`."""
    noun, nouns = _part_of_noun(facts, server), server.nouns
    if "_".join(facts.parsed.noun) in server.declared or "_".join(facts.parsed.noun) in server.identified:
        return None
    return next((nouns[end] for end in last_nouns(noun[1:]) if end in nouns and noun[: -len(end)] in nouns), None)


def _with_shown_fields(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given entity with all fields that a read takes and shows: spots for `find_vehicle(plate)`."""
    asked = {*map(snake, required(facts.input))}
    shown = {*map(snake, properties(record_schema(read_envelope("get", "", facts.output), facts.output)))}
    given = [entity for name, entity in server.given.entities.items() if name in server.held and not entity.singleton]
    held = [entity.name for entity in given if asked | shown <= {*map(snake, entity.fields)}]
    is_read = facts.parsed.verb in {"get", "search"} and "_".join(facts.parsed.noun) not in server.held
    return held[0] if is_read and asked and len(shown - asked) > 1 and len(held) == 1 else None


def _whole_with_key(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity that a noun begins with, if an argument is its key: `order` of `order_total`."""
    noun, nouns, keys = _part_of_noun(facts, server), server.nouns, _named_by_keys(facts.input)
    if facts.parsed.verb not in {"update", "get"} or "_".join(noun) in keys | server.declared.keys():
        return None
    return next((nouns[first] for first in first_nouns(noun) if first in nouns and nouns[first] in keys), None)


def _holder_of_value(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose id is required, if the noun is a value: `task` of `add_label(task_id, label)`.

    No tool lists labels or does anything else with them, nor has the result an id beside that of the task.
    """
    names = {form for name in map(snake, properties(facts.input)) for form in (singular(name), noun_of_id(name))}
    if facts.parsed.noun not in server.entered or "_".join(facts.parsed.noun) not in names:
        return None
    ids = [name for name in map(snake, required_among(properties(facts.input), facts.input)) if noun_of_id(name)]
    shown = record_shape(facts.output)
    if not shown.isdisjoint(ids) and "id" in shown:
        return None
    nouns = (words(noun_of_id(name)) for name in ids if words(noun_of_id(name)) != facts.parsed.noun)
    return next((server.nouns[noun] for noun in nouns if noun in server.nouns), None)


def _keyed(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose key an update requires, if nothing else is done to its noun: `adjust_stock(sku)`.

    A key that is only named like one counts if the noun is a field of the record: `change_salary(employee_id, salary)`.
    """
    noun, needed = facts.parsed.noun, sorted(map(snake, required(facts.input)))
    if facts.parsed.verb != "update" or noun not in server.once:
        return None
    fields = {name for name in needed if {*noun} <= {*words(singular(name))}}
    owners = {entity for shape, entity in server.shapes.items() if not fields.isdisjoint(shape)}
    named = (server.nouns.get(words(noun_of_id(name))) for name in needed)
    known = (server.keys[name] for name in needed if name in server.keys)
    return next(known, None) or next((entity for entity in named if entity in owners), None)


def _whole_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity of the noun, unless it is an attribute of something else."""
    noun = _part_of_noun(facts, server)
    is_entity = facts.parsed.plural or facts.parsed.verb == "create" or "_".join(facts.parsed.noun) in server.declared
    is_entity = is_entity or (not _ATTRIBUTES.issuperset(noun) and _names_records(facts.parsed))
    return server.nouns.get(noun, "_".join(noun)) if noun and is_entity else None


def _named_by_keys(schema: Record) -> set[str]:
    """Return the nouns whose key an argument may be: `task` and `task_id` for an argument `task_id`."""
    names = [*map(snake, properties(schema))]
    others = [name.removesuffix(end) for name in names for end in ("_ids", "_key")]
    return {*names, *map(noun_of_id, names), *others} - {""}


def _in_schemas(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose key is an argument, or whose rows are in the result."""
    named, shown = _named_by_keys(facts.input), {snake(name) for name in properties(facts.output)}
    return next((noun for noun in server.nouns.values() if noun in named or snake(plural(noun)) in shown), None)


def _in_description(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the first entity that the first line of the description mentions."""
    mentioned = tuple(singular(word) for word in words(facts.tool.description.partition("\n")[0].lower()))
    spans = (mentioned[start:end] for start, end in noun_spans(len(mentioned)))
    known = (server.nouns[noun] for noun in spans if noun in server.nouns and not _ATTRIBUTES.issuperset(noun))
    return next(known, None)


def _only_one(_: ToolFacts, server: ServerFacts) -> str | None:
    known = {*server.nouns.values()}
    return next(iter(known)) if len(known) == 1 else None


_ENTITY_READERS = (
    (_holder_of_list, "given records of it hold a list of these"),
    (_collection, "records are added to it or removed from it"),
    (_source, "a description says that it returns the id of such a record"),
    (_same_shape, "its result is such a record"),
    (_same_rows, "its rows are such records"),
    (_of_members, "the given state says which of them belong together"),
    (_listed_as, "the given state lists those it was done to"),
    (_of_parent, "an argument names the parent of given rows"),
    (_verb_as_noun, "other tools have the verb as their noun"),
    (_declared_in_noun, "its name has a declared entity"),
    (_second_noun, "its name has two entities, and ends with this one"),
    (_whole_with_key, "its name begins with it, and an argument is its key"),
    (_holder_of_value, "its id is required, and the noun of the name is only a value"),
    (_keyed, "other tools get such records by this argument"),
    (_with_shown_fields, "given records have the fields that it takes and shows"),
    (_whole_noun, "it is the noun of its name"),
    (_in_schemas, "its arguments or its result name it"),
    (_in_description, "its description mentions it"),
    (_only_one, "there is no other"),
)
"""Readers of the entity, with the reason that each finds, the strongest first."""

_HALVED = tuple(2.0**-place for place in range(len(_ENTITY_READERS)))


def read_verb(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence of what a tool does to its entity."""
    if "verb" in facts.overrides:
        yield Evidence(facts.tool.id, "verb", facts.overrides["verb"], CERTAIN, "declared in the spec", "declared")
    if entity:
        yield from _verb_of_name(facts)
        yield from _verb_of_shape(facts, server, entity)
        yield from _verb_of_schemas(facts, server, entity)
        yield from _verb_of_result(facts, server, entity)
        yield from _verb_of_given(facts, server, entity)


def _verb_of_name(facts: ToolFacts) -> Iterator[Evidence]:
    parsed = facts.parsed
    if parsed.verb == "unknown":
        return
    weight, reason = 0.5, f"'{parsed.word}' may mean {parsed.verb}"
    if parsed.status is not None:
        weight, reason = 0.4, f"'{parsed.word}' changes a state"
    elif parsed.sure:
        weight, reason = 0.7, f"'{parsed.word}' means {parsed.verb}"
    elif parsed.verb_from_description:
        reason = f"its description begins with '{parsed.described_verb}'"
    yield facts.evidence("verb", parsed.verb, weight, reason)


def _verb_of_shape(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where the name has no known verb: a tool that takes the key of a record changes or gets it.

    One that takes none, and whose result is such a record, makes it.
    """
    if facts.parsed.verb != "unknown":
        return
    is_shown = server.shapes.get(record_shape(facts.output)) == entity
    key, score = key_argument("update", entity, "id", facts.input)
    known = next((name for name in required(facts.input) if server.keys.get(snake(name)) == entity), None)
    key, score = (known, 2) if known is not None and score < 2 else (key, score)
    word = facts.parsed.word or facts.parsed.recordless_verb
    if score >= 2 and key in required(facts.input) and (is_shown or facts.parsed.word):
        weight, reason = (0.55, ", and its result is one") if is_shown else (0.3, "")
        is_noun = not word and len(properties(facts.input)) == 1  # `employee(employee_id)`
        yield facts.evidence("verb", "get" if is_noun else "update", weight, f"it takes the key of a {entity}{reason}")
    elif entity in server.held and not facts.parsed.word and (facts.parsed.plural or _asks_for_details(facts, score)):
        verb = "list" if facts.parsed.plural else "get"
        yield facts.evidence("verb", verb, 0.55, f"it is named after the given {plural(entity)}")
    elif is_shown and not score:
        yield facts.evidence("verb", "create", 0.45, f"its result is a {entity} that no argument names")


def _asks_for_details(facts: ToolFacts, score: int) -> bool:
    """Whether a name without a verb ends with a word like `info`, and an argument names a record."""
    return score >= 2 and last_word(facts.tool.name) in _DETAILS


def _verb_of_schemas(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    parsed, (key, score) = facts.parsed, key_argument("update", entity, "id", facts.input)
    is_state = parsed.word in _STATE_VERBS and _have_states(server, entity)  # `open_gate` of closed gates
    is_bare = [*required(facts.input)] == [key] and (snake(key or "").endswith("id") or is_state)
    is_needed = score >= 2 and key in required(facts.input)
    if is_needed and _may_rename(facts) and entity in (server.shown if is_bare else server.made):
        yield facts.evidence("verb", "create", -0.1, "other tools have such records")
        yield facts.evidence("verb", "update", 0.45, f"'{key}' names a record that another tool creates or shows")
    elif parsed.verb == "list" and is_needed and last_word(facts.tool.name) in _LISTS and not row_shape(facts.output):
        yield facts.evidence("verb", "list", -0.1, f"'{key}' names one record")
        yield facts.evidence("verb", "get", 0.75, f"'{key}' names the record whose past is asked for")
    elif parsed.verb == "search" and _with_shown_fields(facts, server) == entity:
        yield facts.evidence("verb", "search", -0.1, "its result is one record")
        yield facts.evidence("verb", "get", 0.75, "its result is a given record")
    elif parsed.verb == "list" and _holder_of_list(facts, server) == entity:
        yield facts.evidence("verb", "list", -0.1, f"'{key}' names one record")
        yield facts.evidence("verb", "get", 0.75, f"'{key}' names the record that holds a list")
    elif parsed.verb == "get" and score < 2 and facts.tool.name in server.sources:
        yield facts.evidence("verb", "list", 0.75, "other tools take the ids of its rows")
    elif parsed.verb == "get" and _asks_for_children(facts, server, entity):
        yield facts.evidence("verb", "get", -0.1, "no argument names a record")
        yield facts.evidence("verb", "list", 0.65, "the given state has several such records")
    elif parsed.verb == "get" and score < 2 and not facts.output and _asks_for_several(facts.input):
        yield facts.evidence("verb", "get", -0.1, "no argument names a record")
        yield facts.evidence("verb", "list", 0.65, "it takes a list of values, or a number of rows")


def _asks_for_children(facts: ToolFacts, server: ServerFacts, entity: str) -> bool:
    """Whether a tool asks for all given records, or those of a parent: `read_inbox(person)`."""
    links, asked = server.given.parents.get(entity), {*map(snake, required(facts.input))}
    takes_key = entity in server.declared and _takes_key(facts, server.declared[entity])
    return links is not None and asked <= {*map(snake, links)} and not facts.parsed.one_of_a_kind and not takes_key


def _takes_key(facts: ToolFacts, entity: Entity) -> bool:
    return key_argument("update", entity.name, entity.key, facts.input)[1] >= 2


def _have_states(server: ServerFacts, entity: str) -> bool:
    """Whether given records have a field with a state."""
    return entity in server.held and not _STATES.isdisjoint(map(snake, server.given.entities[entity].fields))


def _verb_of_given(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where a record is not what a verb is about, or given records cannot be changed as it says.

    A value enters a list of a record; a call without a state is removed.
    """
    parsed, given = facts.parsed, server.given.entities.get(entity)
    holders = {read(facts, server) for read in (_holder_of_list, _holder_of_value, _collection)}
    if parsed.word in _ENTERING and entity in holders:
        yield facts.evidence("verb", parsed.verb, -0.1, f"it is not about a {entity} alone")
        yield facts.evidence("verb", "update", 0.75, f"it changes a list of a {entity}")
    if given is None or given.singleton or parsed.verb not in {"update", "create", "unknown"}:
        return
    membership, asked = server.given.memberships.get(entity), {*map(snake, required(facts.input))}
    if membership is not None and asked == {*membership.fields} and parsed.verb != "create":
        yield facts.evidence("verb", "create", 0.75, "it adds to a list of names that the state has by parent")
    flags = {snake(name).removeprefix("is_") for name in given.fields}
    shown = record_shape(facts.output)
    is_shown = server.shapes.get(shown) == entity or not _STATES.isdisjoint(shown)
    if parsed.word in _CALLED_OFF and not (_have_states(server, entity) or is_shown or parsed.status in flags):
        yield facts.evidence("verb", "delete", 0.75, f"given {plural(entity)} have no state")
    if _listed_as(facts, server) == entity:
        is_undone = parsed.word.startswith("un")
        yield facts.evidence("verb", "delete" if is_undone else "create", 0.75, "the state lists those it was done to")


def _verb_of_result(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where the result is a record: a new one, or one that loses something: `unlink_site_repo`."""
    parsed, shown = facts.parsed, record_shape(facts.output)
    if server.shapes.get(shown) != entity:
        return
    is_about = _is_about(parsed.noun, words(entity))
    is_named = is_about or key_argument("update", entity, "id", facts.input)[1] > 1
    if (
        parsed.verb == "update"
        and not is_named
        and {"id", f"{entity}_id"} & shown - {*map(snake, properties(facts.input))}
    ):
        yield facts.evidence("verb", "update", -0.1, f"no argument names a {entity}")
        yield facts.evidence("verb", "create", 0.75, f"its result has the id of a {entity}, which no argument gives")
    elif parsed.verb == "delete" and not is_about:
        yield facts.evidence("verb", "delete", -0.1, f"it is not about a {entity} alone")
        yield facts.evidence("verb", "update", 0.75, f"it changes a {entity}")


def _asks_for_several(schema: Record) -> bool:
    """Whether a list of plain values is required, or a number of rows or days asked for: `get_prices(symbols)`."""
    lists = [property_of(schema, name) for name in required(schema)]
    numbers = [snake(name) for name, subschema in properties(schema).items() if main_type(subschema) == "integer"]
    is_numbered = not (LIMITS | terms("arguments.length")).isdisjoint(numbers)
    return is_numbered or any(
        main_type(subschema) == "array" and main_type(items(subschema)) in _SCALAR for subschema in lists
    )
