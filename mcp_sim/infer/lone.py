"""What is there one of, as tools tell that get or set it without naming it: settings, a volume, a current user?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from mcp_sim.infer.customary import OPTIONS
from mcp_sim.infer.envelopes import SUCCESS, envelope_of
from mcp_sim.infer.flags import flag_of
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import Reading, Words
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import at, expanded, main_type, map_of, properties, required
from mcp_sim.types.lexicon.words import snake, vocabulary

_FACETS = vocabulary("status state setting settings mode level value config configuration option options preference")
_NO_THINGS = vocabulary("id key name type detail list all value number count message text data file")


@dataclass(frozen=True, slots=True)
class _Spoken:
    """One tool of one noun: what its name says, its arguments but for options, and its result."""

    reading: Reading
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    output: Record


def told_alone(
    tools: Mapping[str, Tool], readings: Mapping[str, Reading], known: Iterable[str], settled: Container[str]
) -> dict[str, Entity]:
    """An entity with one record for each noun that tools only get and set, and of which none names one of several.

    `settled` are the tools of which a spec tells what they do.
    """
    spoken: dict[Words, list[_Spoken]] = defaultdict(list)
    for id_, tool in tools.items():
        noun = thing_of(readings[id_].noun)
        if noun and id_ not in settled:
            spoken[noun].append(_spoken(readings[id_], tool))
    known = {*known}
    nouns = {noun for noun, uses in spoken.items() if any(one.reading.verb != "unknown" for one in uses)}
    found = {"_".join(noun): uses for noun, uses in spoken.items() if _is_alone(noun, uses, nouns)}
    taken = {snake(name) for tool in tools.values() for name in properties(tool.input_schema)}
    return {
        name: _entity(name, uses) for name, uses in found.items() if name not in known and f"{name}_id" not in taken
    }


def alone_in(entities: Mapping[str, Entity], reading: Reading) -> Entity | None:
    """The one among these of which a tool speaks."""
    return entities.get("_".join(thing_of(reading.noun)))


def thing_of(noun: Words) -> Words:
    """`wifi_status` and `wifi` are about one thing."""
    return noun[:-1] if len(noun) > 1 and noun[-1] in _FACETS else noun


def _spoken(reading: Reading, tool: Tool) -> _Spoken:
    schema = expanded(tool.input_schema)
    arguments = {name: part for name, part in properties(schema).items() if snake(name) not in OPTIONS}
    output = expanded(tool.output_schema) if tool.output_schema is not None else {}
    return _Spoken(reading, arguments, required(schema) & arguments.keys(), output)


def _is_alone(noun: Words, uses: Sequence[_Spoken], others: AbstractSet[Words]) -> bool:
    """Do all tools of a noun get or set it, and none says which one?"""
    gets = [one for one in uses if _gets(one)]
    sets = [one for one in uses if one.reading.verb == "update" and _sets(one)]
    if len(gets) + len(sets) < len(uses) or not gets or _NO_THINGS.issuperset(noun):
        return False
    if any(main_type(map_of(one.output)) not in {"", "string"} for one in uses):
        return False
    if any(noun[:at] in others or noun[at:] in others for at in range(1, len(noun))):
        return False
    whole = bool(sets) or not any(one.arguments for one in gets)
    return whole and not any(_names_another("_".join(noun), one) for one in uses)


def _gets(one: _Spoken) -> bool:
    """Does it show the one there is? `settings` are one thing, in the plural."""
    facets = one.reading.verb == "list" and f"{one.reading.noun[-1]}s" in _FACETS
    return not one.needed and (facets or (one.reading.verb == "get" and not one.reading.plural))


def _names_another(name: str, one: _Spoken) -> bool:
    keyed = key_argument("update", name, "id", {"properties": dict(one.arguments)})[1] > 2
    return keyed or any(snake(argument).endswith(("_id", "_ids")) for argument in one.arguments)


def _sets(one: _Spoken) -> bool:
    return bool(one.arguments) or bool(flag_of(one.reading.word))


def _entity(name: str, uses: Sequence[_Spoken]) -> Entity:
    fields: dict[str, Field] = {}
    shown = [field for one in uses if one.reading.verb == "get" for field in _shown(name, one.output)]
    for field in shown or [field for one in uses if one.reading.verb == "update" for field in _taken(one)]:
        fields.setdefault(field.name, field)
    flags = {flag_of(one.reading.word) for one in uses if one.reading.verb == "update" and not one.arguments}
    if not any(main_type(field.schema) == "boolean" for field in fields.values()):
        fields |= {flag: Field(flag, {"type": "boolean", "default": False}, required=True) for flag in sorted(flags)}
    fields = fields or {"name": Field("name", {"type": "string"}, required=True)}
    return Entity(name, name, None, fields, singleton=True)


def _shown(name: str, output: Record) -> Iterator[Field]:
    envelope = envelope_of("get", name, output)
    for field, schema in properties(at(output, envelope.record or "")).items():
        if snake(field) not in SUCCESS:
            yield Field(field, schema, required=True)


def _taken(one: _Spoken) -> Iterator[Field]:
    for name, part in one.arguments.items():
        yield Field(name, {word: said for word, said in part.items() if word != "default"}, required=True)
