"""Singletons: settings, a volume, a current user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from mcp_sim.infer.arguments import OPTIONS, sets_for_each
from mcp_sim.infer.envelopes import SUCCESS, read_envelope
from mcp_sim.infer.flags import flag_name
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName, Words, first_nouns, last_nouns
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, main_type, map_of, properties, required
from mcp_sim.types.lexicon.english import singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms

_FACETS, _NOT_ENTITIES = terms("nouns.facets"), terms("nouns.unspecific")


@dataclass(frozen=True, slots=True)
class _Use:
    """One tool of a noun: its parsed name, its arguments without options, and its result."""

    parsed: ParsedName
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    output: Record
    is_for_each: bool
    """Whether it takes a number and a text that the number applies to."""


def find_singletons(
    tools: Mapping[str, Tool], parsed_names: Mapping[str, ParsedName], known: Iterable[str], settled: Container[str]
) -> dict[str, Entity]:
    """Return a singleton for each noun that tools only get and set and that no key identifies.

    `settled` are the tools whose effect a spec declares.
    """
    uses_by_noun = _uses_by_noun({id_: tool for id_, tool in tools.items() if id_ not in settled}, parsed_names)
    nouns = {noun for noun, uses in uses_by_noun.items() if any(one.parsed.verb != "unknown" for one in uses)}
    known = {*known, *(snake(name).removesuffix("_id") for tool in tools.values() for name in _id_arguments(tool))}
    found = {"_".join(noun): uses for noun, uses in uses_by_noun.items() if _is_singleton(noun, uses, nouns)}
    return {name: _make_entity(name, uses) for name, uses in found.items() if name not in known}


def _uses_by_noun(tools: Mapping[str, Tool], parsed_names: Mapping[str, ParsedName]) -> dict[Words, list[_Use]]:
    found: dict[Words, list[_Use]] = defaultdict(list)
    for id_, tool in tools.items():
        noun = _strip_facet(parsed_names[id_].noun)
        if noun:
            found[noun].append(_use_of(parsed_names[id_], tool))
    return found


def _id_arguments(tool: Tool) -> list[str]:
    return [name for name in properties(tool.input_schema) if snake(name).endswith("_id")]


def find_singleton(parsed: ParsedName, schema: Record, entities: Iterable[Entity]) -> Entity | None:
    """Return the singleton that a tool reads or sets: `wifi` for `get_wifi_status` and `set_wifi`."""
    if parsed.verb not in {"get", "list", "update"} or (parsed.verb != "update" and required(schema)):
        return None
    nouns = {"_".join(noun) for noun in (parsed.noun, _strip_facet(parsed.noun))}
    singles = (one for one in entities if one.singleton)
    return next((one for one in singles if {one.name, singular_phrase(words(one.name))} & nouns), None)


def _strip_facet(noun: Words) -> Words:
    """Return the noun without words like `status`: `wifi` of `wifi_status`."""
    return noun[:-1] if len(noun) > 1 and noun[-1] in _FACETS else noun


def _use_of(parsed: ParsedName, tool: Tool) -> _Use:
    schema = expanded(tool.input_schema)
    arguments = {name: part for name, part in properties(schema).items() if snake(name) not in OPTIONS}
    output = expanded(tool.output_schema) if tool.output_schema is not None else {}
    return _Use(parsed, arguments, required(schema) & arguments.keys(), output, sets_for_each(schema))


def _is_singleton(noun: Words, uses: Sequence[_Use], others: AbstractSet[Words]) -> bool:
    """Whether all tools of a noun get or set it, and none takes a key."""
    gets, sets = [one for one in uses if _is_getter(one)], [one for one in uses if _is_setter(one)]
    if not gets or len(gets) + len(sets) < len(uses) or not (sets or _take_nothing(gets)):
        return False
    inner = (*first_nouns(noun), *last_nouns(noun[1:]))
    if _NOT_ENTITIES.issuperset(noun) or not others.isdisjoint(inner):
        return False
    return all(_is_plain("_".join(noun), one) for one in uses)


def _is_plain(name: str, one: _Use) -> bool:
    return not _is_mapping(one.output) and not _names_another(name, one)


def _take_nothing(uses: Iterable[_Use]) -> bool:
    return not any(one.arguments for one in uses)


def _is_mapping(output: Record) -> bool:
    """Whether a result maps names to values other than texts."""
    return main_type(map_of(output)) not in {"", "string"}


def _is_getter(one: _Use) -> bool:
    """Whether a tool shows the singleton. `settings` are one thing in the plural."""
    facets = one.parsed.verb == "list" and f"{one.parsed.noun[-1]}s" in _FACETS
    return not one.needed and (facets or (one.parsed.verb == "get" and not one.parsed.plural))


def _names_another(name: str, one: _Use) -> bool:
    keyed = key_argument("update", name, "id", {"properties": dict(one.arguments)})[1] > 2
    return keyed or any(snake(argument).endswith(("_id", "_ids")) for argument in one.arguments)


def _is_setter(one: _Use) -> bool:
    """Whether a tool sets the singleton, and not one of several amounts."""
    is_update = one.parsed.verb == "update" and not (one.parsed.word == "set" and one.is_for_each)
    return is_update and (bool(one.arguments) or bool(flag_name(one.parsed.word)))


def _make_entity(name: str, uses: Sequence[_Use]) -> Entity:
    sets = [one for one in uses if one.parsed.verb == "update"]
    shown = chain.from_iterable(_result_fields(name, one.output) for one in uses if one not in sets)
    listed = [*shown] or [*chain.from_iterable(map(_argument_fields, sets))]
    if "boolean" not in (main_type(field.schema) for field in listed):
        listed += _flags(sets)
    fields = {field.name: field for field in reversed(listed or [Field("name", {"type": "string"}, required=True)])}
    return Entity(name, name, None, fields, singleton=True)


def _flags(sets: Iterable[_Use]) -> list[Field]:
    """Return the flags of verbs without arguments, such as `enabled` of `enable`."""
    names = sorted({flag_name(one.parsed.word) for one in sets if not one.arguments})
    return [Field(name, {"type": "boolean", "default": False}, required=True) for name in names]


def _result_fields(name: str, output: Record) -> Iterator[Field]:
    envelope = read_envelope("get", name, output)
    for field, schema in properties(at(output, envelope.record or "")).items():
        if snake(field) not in SUCCESS:
            yield Field(field, schema, required=True)


def _argument_fields(one: _Use) -> Iterator[Field]:
    for name, part in one.arguments.items():
        yield Field(name, {word: part_value for word, part_value in part.items() if word != "default"}, required=True)
