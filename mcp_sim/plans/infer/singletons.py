"""Singletons: settings, a volume, a current user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from mcp_sim.plans.infer.arguments import OPTIONS
from mcp_sim.plans.infer.envelopes import SUCCESS, read_envelope
from mcp_sim.plans.infer.names import ParsedName, Words, first_nouns, last_nouns, parse_noun_phrase
from mcp_sim.plans.infer.verbs import COUNT, TRANSITIONS
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field, singleton_key
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, map_of, properties, required
from mcp_sim.types.lexicon.english import last_word, noun_of_id, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import groups, terms

_REPLACING, _ONE_OF_A_KIND = terms("verbs.replacing"), terms("phrases.one_of_a_kind")
_FACETS, _NOT_ENTITIES, _DETAILS = terms("nouns.facets"), terms("nouns.unspecific"), terms("nouns.details")

_STATE_VERBS = frozenset(TRANSITIONS) | frozenset(groups("states.after"))
_FIELD_WORDS = frozenset((word,) for word in terms("arguments.field_name"))


@frozen
class _Use:
    """One tool of a noun: its parsed name, its arguments without options, and its result."""

    parsed: ParsedName
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    output: Record


def find_singletons(
    tools: Mapping[str, Tool], parsed_names: Mapping[str, ParsedName], known: Iterable[str], settled: Container[str]
) -> dict[str, Entity]:
    """Return a singleton for each noun that tools only get and set and that no key identifies.

    `settled` are the tools whose effect a spec declares.
    """
    uses_by_noun: dict[Words, list[_Use]] = defaultdict(list)
    for id_, tool in tools.items():
        if id_ not in settled:
            uses_by_noun[_strip_facet(parsed_names[id_].noun)].append(_use_of(parsed_names[id_], tool))
    nouns = {noun for noun, uses in uses_by_noun.items() if any(use.parsed.verb != "unknown" for use in uses)}
    known = {*known, *(noun_of_id(snake(name)) for tool in tools.values() for name in properties(tool.input_schema))}
    singletons = {"_".join(noun): uses for noun, uses in uses_by_noun.items() if _is_singleton(noun, uses, nouns)}
    return {name: _make_entity(name, uses) for name, uses in singletons.items() if name not in known}


def find_singleton(parsed: ParsedName, schema: Record, entities: Iterable[Entity]) -> Entity | None:
    """Return the singleton that a tool reads or sets: `wifi` for `get_wifi_status` and `set_wifi`.

    It is the one of that name, the only one of a name that its noun ends with (`profile` of `company_profile`), the
    only one with the details of its noun (`user_account` for `get_user_info`), or the only one with fields for all that
    an update requires.
    """
    is_write = parsed.verb == "update" or parsed.word in _REPLACING
    if not is_write and (not _reads_all(parsed, schema) or (parsed.verb == "unknown" and parsed.word)):
        return None
    fieldless = parsed.noun[:-1] if parsed.noun[-1:] in _FIELD_WORDS else parsed.noun
    nouns = {"_".join(noun) for noun in (parsed.noun, _strip_facet(parsed.noun), fieldless)}
    singles = [entity for entity in entities if entity.singleton]
    named = next((single for single in singles if _nouns_of(single, parsed) & nouns), None)
    ends = {"_".join(noun) for noun in last_nouns(parsed.noun)}
    ending = [single for single in singles if singular_phrase(words(single.name)) in ends]
    bare = {words(noun) for noun in nouns if noun}
    detailing = [single for single in singles if _strip_details(words(single.name)) in bare]
    named = named or next((several[0] for several in (ending, detailing) if len(several) == 1), None)
    return named or _only_holder(singles, {*map(snake, required(schema))} - OPTIONS)


def _nouns_of(single: Entity, parsed: ParsedName) -> set[str]:
    """Return the nouns of a singleton: also `user` of `current_user` if the tool gets the current one, or its own."""
    bare = {"_".join(parse_noun_phrase(words(single.name)).noun)} if parsed.one_of_a_kind else set[str]()
    return {single.name, singular_phrase(words(single.name)), *bare}


def find_single_value(parsed: ParsedName, schema: Record, entities: Iterable[Entity]) -> tuple[Entity, str] | None:
    """Return the singleton and the path of its field that a tool reads or sets: `get_balance` the `balance`.

    The noun is that of the field, alone or behind the name of the singleton. None if several singletons have it.
    """
    if not _reads_all(parsed, schema) and value_argument(parsed, schema) is None and not switches(parsed, schema):
        return None
    nouns = [parsed.object, _strip_count(parsed.object), _strip_facet(parsed.object)]
    if parsed.one_of_a_kind:
        nouns += [(word, *parsed.object) for word in sorted(_ONE_OF_A_KIND)]  # `get_current_day` of a `current_day`
    if parsed.verb == "unknown" and parsed.word and not switches(parsed, schema):
        nouns = [(parsed.word, *parsed.noun)]  # the first word of `till_balance` is not a verb, but part of a noun
    named = [(entity, *value) for entity in entities if entity.singleton for value in _value_names(entity)]
    for noun in nouns:
        values = [(entity, path) for entity, path, names in named if "_".join(noun) in names]
        if values:
            return values[0] if len(values) == 1 else None
    return None


def switches(parsed: ParsedName, schema: Record) -> bool:
    """Whether a tool that takes nothing changes a state by its verb: `close_gate`, `turn_on_lights`."""
    return bool(parsed.object) and parsed.act in _STATE_VERBS and not required(schema)


def value_argument(parsed: ParsedName, schema: Record) -> str | None:
    """Return the only argument of a tool that sets one value: `status` of `set_service_status(status)`."""
    arguments = [name for name in properties(schema) if snake(name) not in OPTIONS]
    is_write = parsed.verb == "update" or parsed.word in _REPLACING
    return arguments[0] if is_write and len(arguments) == 1 and last_word(arguments[0]) not in {"id", "ids"} else None


def _reads_all(parsed: ParsedName, schema: Record) -> bool:
    """Whether a tool reads without a key. A name without a known verb may be a noun if the tool takes nothing."""
    is_noun = parsed.verb == "unknown" and not properties(schema)
    return is_noun or (parsed.verb in {"get", "list"} and not required(schema))


def _value_names(entity: Entity) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the paths of the values of a singleton, each with the nouns that mean it. Names with dots have no path."""
    for field in entity.fields.values():
        paths = [(field.name, (entity.name, field.name))]
        paths += [(f"{field.name}.{name}", (field.name, name)) for name in properties(field.schema)]
        for path, (outer, name) in paths:
            if "." in name or "." in outer:
                continue
            noun = singular_phrase(words(name))
            yield path, frozenset((noun, f"{singular_phrase(words(outer))}_{noun}"))


def _only_holder(singles: Iterable[Entity], needed: AbstractSet[str]) -> Entity | None:
    holding = [single for single in singles if needed and needed <= {*map(snake, single.fields)}]
    return holding[0] if len(holding) == 1 else None


def _strip_facet(noun: Words) -> Words:
    """Return the noun without words like `status`: `wifi` of `wifi_status`."""
    return noun[:-1] if len(noun) > 1 and noun[-1] in _FACETS else noun


def _strip_details(noun: Words) -> Words:
    """Return the noun without words like `account`: `user` of `user_account`."""
    return noun[:-1] if noun[-1:] and noun[-1] in _DETAILS else noun


def _strip_count(noun: Words) -> Words:
    """Return the noun without a last `count`: `unread` of `unread_count`."""
    return noun[:-1] if noun[-1:] == (COUNT,) else noun


def _use_of(parsed: ParsedName, tool: Tool) -> _Use:
    schema = expanded(tool.input_schema)
    arguments = {name: subschema for name, subschema in properties(schema).items() if snake(name) not in OPTIONS}
    output = expanded(tool.output_schema) if tool.output_schema is not None else {}
    return _Use(parsed, arguments, required(schema) & arguments.keys(), output)


def _is_singleton(noun: Words, uses: Sequence[_Use], others: AbstractSet[Words]) -> bool:
    """Whether all tools of a noun get or set it, and none takes a key."""
    if not _is_entity(noun, others):
        return False
    gets = [use for use in uses if _is_getter(use)]
    sets = [use for use in uses if use.parsed.verb == "update" and use.arguments]
    takes_id = any(last_word(argument) in {"id", "ids"} for use in uses for argument in use.arguments)
    if not gets or len(gets) + len(sets) < len(uses) or takes_id:
        return False
    return bool(sets or not any(getter.arguments for getter in gets))


def _is_entity(noun: Words, others: AbstractSet[Words]) -> bool:
    """Whether a noun is more than a word like `data`, and contains no noun of other tools."""
    inner = (*first_nouns(noun), *last_nouns(noun[1:]))
    return not _NOT_ENTITIES.issuperset(noun) and others.isdisjoint(inner)


def _is_getter(use: _Use) -> bool:
    """Whether a tool shows the singleton, not values by name. `settings` are one thing in the plural."""
    if map_of(use.output):
        return False
    facets = use.parsed.verb == "list" and f"{use.parsed.noun[-1]}s" in _FACETS
    return not use.needed and (facets or (use.parsed.verb == "get" and not use.parsed.plural))


def _make_entity(name: str, uses: Sequence[_Use]) -> Entity:
    """Return a singleton with the fields of results, else those of arguments."""
    shown = [field for use in uses for field in _result_fields(name, use)]
    listed = shown or [
        Field(argument, use.arguments[argument], required=True) for use in uses for argument in use.arguments
    ]
    fields = {field.name: field for field in reversed(listed or [Field("name", {"type": "string"}, required=True)])}
    taken = {*fields, *(argument for use in uses for argument in use.arguments)}
    return Entity(name, singleton_key(name, taken), None, fields, singleton=True)


def _result_fields(name: str, use: _Use) -> Iterator[Field]:
    envelope = read_envelope("get", name, use.output)
    parts = properties(at(use.output, envelope.record or "")) if use.parsed.verb != "update" else {}
    return (Field(field, schema, required=True) for field, schema in parts.items() if snake(field) not in SUCCESS)
