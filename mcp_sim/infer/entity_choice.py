"""The entity that a tool works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName, Words, first_nouns, last_nouns, noun_spans
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.english import plural, singular, snake, vocabulary, words

_ATTRIBUTES = vocabulary(
    "status state name description title text content size stage priority setting metadata balance price amount email"
)
NO_NOUNS = vocabulary("id key name type status info detail list all value number count state")
_MANY = frozenset({"list", "search"})


def choose_entity(
    parsed: ParsedName,
    schema: Record,
    output: Record,
    nouns: Mapping[Words, str],
    declared: Mapping[str, Entity],
    about: str = "",
) -> str:
    """Return the entity that a tool works on, or '' if nothing names one.

    `nouns` are the noun phrases of all tools and of the declared entities, with their entity. `about` is the
    description of the tool.
    """
    noun = parsed.noun
    known = "_".join(noun) in declared
    part = _without_attribute(noun) if parsed.verb in {"update", "get"} and not known else noun
    is_noun = bool(part) and (parsed.plural or known or not _ATTRIBUTES.issuperset(part))
    return (
        (None if known else _declared_in_noun(parsed, schema, declared))
        or (None if known else _second_noun(part, nouns))
        or (_whole_with_key(part, schema, nouns) if parsed.verb in {"update", "get"} else None)
        or (nouns.get(part, "_".join(part)) if is_noun else None)
        or _entity_of_schemas(schema, output, nouns)
        or _entity_in_text(about.partition("\n")[0], nouns)
        or _only_entity(nouns)
    )


def _without_attribute(noun: Words) -> Words:
    """Return the noun without a field at its end: `order` of `order_status`."""
    return noun[:-1] if len(noun) > 1 and noun[-1] in _ATTRIBUTES else noun


def _declared_in_noun(parsed: ParsedName, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Return the declared entity in a longer noun: the one that an argument names, or the last one.

    `order` in `pending_order_address` with an `order_id`, `user` in `user_id`. Creates and the whole noun win.
    """
    if parsed.verb == "create":
        return None
    found = [*_entities_in(parsed.noun, declared)]
    keyed = (one.name for one in found if key_argument("update", one.name, one.key, schema)[1] >= 2)
    named = None if parsed.verb in _MANY else next(keyed, None)
    return named or next((one.name for one in found if _is_about(parsed.noun, words(one.name))), None)


def _entities_in(noun: Words, declared: Mapping[str, Entity]) -> Iterator[Entity]:
    """Yield the declared entities in a noun, the longest first, then those at its end."""
    spans = sorted(noun_spans(len(noun)), key=lambda span: (span[1] - span[0], span[1]), reverse=True)
    names = ("_".join(noun[start:end]) for start, end in spans)
    return (declared[name] for name in names if name in declared and not declared[name].singleton)


def _is_about(noun: Words, entity: Words) -> bool:
    """Whether a noun ends with the entity, or has only attributes besides."""
    return noun[-len(entity) :] == entity or {*noun} - {*entity} <= _ATTRIBUTES | NO_NOUNS


def _second_noun(noun: Words, nouns: Mapping[Words, str]) -> str | None:
    """Return the second of the two entities that a noun consists of: `assignment` of `course_assignment`."""
    return next((nouns[end] for end in last_nouns(noun[1:]) if end in nouns and noun[: -len(end)] in nouns), None)


def _whole_with_key(noun: Words, schema: Record, nouns: Mapping[Words, str]) -> str | None:
    """Return the entity that a noun begins with, if an argument is its key: `order` of `order_total`."""
    keys = _named_by_keys(schema)
    if "_".join(noun) in keys:
        return None
    return next((nouns[first] for first in first_nouns(noun) if first in nouns and nouns[first] in keys), None)


def _named_by_keys(schema: Record) -> set[str]:
    """Return the nouns whose key an argument may be: `task` and `task_id` for an argument `task_id`."""
    names = [snake(name) for name in properties(schema)]
    return {noun for name in names for noun in (name, name.removesuffix("_id"), name.removesuffix("_key"))}


def _entity_of_schemas(schema: Record, output: Record, nouns: Mapping[Words, str]) -> str | None:
    """Return the entity whose key is an argument, or whose rows are in the result."""
    named, shown = _named_by_keys(schema), {snake(name) for name in properties(output)}
    return next((one for one in nouns.values() if one in named or snake(plural(one)) in shown), None)


def _entity_in_text(text: str, nouns: Mapping[Words, str]) -> str | None:
    """Return the first entity that a text mentions."""
    mentioned = tuple(singular(word) for word in words(text.lower()))
    found = (mentioned[start:end] for start, end in noun_spans(len(mentioned)))
    return next((nouns[noun] for noun in found if noun in nouns and not _ATTRIBUTES.issuperset(noun)), None)


def _only_entity(nouns: Mapping[Words, str]) -> str:
    known = {*nouns.values()}
    return next(iter(known)) if len(known) == 1 else ""
