"""Parsing of all tool names of a server, together with their descriptions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType

from mcp_sim.infer.names import (
    LONGEST_NOUN,
    ParsedName,
    Words,
    first_nouns,
    last_nouns,
    parse_name,
    parse_noun_phrase,
)
from mcp_sim.infer.verbs import (
    CREATION_VERBS,
    INSPECTION_VERBS,
    PHRASES,
    PLAIN_VERBS,
    RECORDLESS_VERBS,
    RETURN_VERBS,
    STRONG,
    TRANSITIONS,
    WEAK,
    find_described_verb,
    find_recordless_verb,
    find_verb,
    skip_opener,
)
from mcp_sim.types import Tool
from mcp_sim.types.lexicon.english import singular, vocabulary, words
from mcp_sim.types.lexicon.translations import in_english, one_noun_each
from mcp_sim.types.plans import Verb

_CREATE_WORDS, _UPDATE_WORDS = vocabulary("create add insert"), vocabulary("update replace edit modify patch set")
_CREATES_OR_UPDATES = re.compile(
    r"(?:create|add|insert|save|store|set|write)s?(?:/| or )(?:updates?|replaces?|overwrites?|edits?)\b", re.IGNORECASE
)
"""Beginnings of descriptions of upserts."""


def parse_names(names: Iterable[str], descriptions: Mapping[str, str] = MappingProxyType({})) -> dict[str, ParsedName]:
    """Parse the names of the tools of one server.

    First words that most names share are dropped, unless they are the noun: `task_create`, `task_list`, `task_delete`.
    `descriptions` fill gaps that names leave.
    """
    bare = _translate({name: words(last_segment(name)) for name in names})
    shared = _shared_prefix([*bare.values()])
    bare = {
        name: _join_phrase(parts[len(shared) :] if parts[: len(shared)] == shared else parts)
        for name, parts in bare.items()
    }
    parsed_names = {name: parse_name(parts) for name, parts in bare.items()}
    nouns = {parsed.noun for parsed in parsed_names.values() if parsed.noun and parsed.verb != "unknown"}
    return {
        name: _with_upsert(_complete(parsed, bare[name], find_described_verb(about), nouns), about)
        for name, parsed in parsed_names.items()
        for about in (descriptions.get(name, ""),)
    }


def _with_upsert(parsed: ParsedName, description: str) -> ParsedName:
    """Mark `save` as an upsert if its description says so."""
    is_both = parsed.verb == "create" and _CREATES_OR_UPDATES.match(skip_opener(description)) is not None
    return replace(parsed, word="upsert") if is_both else parsed


def _translate(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Translate names with a verb in another language."""
    read_so = {name: in_english(parts) for name, parts in bare.items() if parts and find_verb(parts) is None}
    foreign = {name: parts for name, parts in read_so.items() if parts != bare[name]}
    return {**bare, **one_noun_each(foreign)}


def _join_phrase(parts: Words) -> Words:
    """Join `turn on` into one word, and replace `create or update` by `upsert`."""
    if parts[1:2] == ("or",) and {parts[0]} <= _CREATE_WORDS and {*parts[2:3]} <= _UPDATE_WORDS:
        return ("upsert", *parts[3:])
    return ("_".join(parts[:2]), *parts[2:]) if parts[:2] in PHRASES else parts


def _complete(parsed: ParsedName, parts: Words, described_verb: str, nouns: AbstractSet[Words]) -> ParsedName:
    """Complete a parsed name with the verb of its description, and with that verb alone if it has none."""
    if parsed.verb != "unknown" or len(parts) == 0:
        return replace(parsed, described_verb=described_verb)
    recordless_verb = find_recordless_verb(parts, described_verb)
    verb = _infer_verb(parts, described_verb, recordless_verb, nouns)
    if verb is None:
        return replace(parsed, described_verb=described_verb, recordless_verb=recordless_verb)
    starts = parts[0] in RECORDLESS_VERBS | CREATION_VERBS | INSPECTION_VERBS and len(parts) > 1
    word, rest = (parts[0], parts[1:]) if starts else (described_verb, parts)
    noun, after, plural, batch, special = parse_noun_phrase(rest)
    return ParsedName(
        "list" if verb == "get" and plural else verb,
        noun,
        after,
        word,
        plural,
        batch=batch,
        one_of_a_kind=special,
        described_verb=described_verb,
        verb_from_description=not starts,
    )


def _infer_verb(parts: Words, described_verb: str, recordless_verb: str, nouns: AbstractSet[Words]) -> Verb | None:
    """Return the verb that other tools and the description imply, or None."""
    rest = parse_noun_phrase(parts[1:])[0]
    if parts[0] in CREATION_VERBS and rest in nouns:
        return "create"
    if parts[0] in INSPECTION_VERBS and not nouns.isdisjoint((rest, *first_nouns(rest), *last_nouns(rest))):
        return "get"
    return (
        None
        if recordless_verb or parts[0] in INSPECTION_VERBS
        else STRONG.get(described_verb) or RETURN_VERBS.get(described_verb)
    )


def last_segment(name: str) -> str:
    """Return what follows the last separator: `slack.post_message`, `jira/create_issue`, `mcp__jira__create_issue`."""
    return _segments(name)[-1] or name


def _segments(name: str) -> list[str]:
    return re.split(r"[./:]|__", name.strip("_./:"))


def _shared_prefix(names: Sequence[Words]) -> Words:
    """Return the first words of most names, which do not distinguish the tools."""
    shared: Words = ()
    while len(shared) < LONGEST_NOUN and (word := _shared_word(names, shared)):
        shared = (*shared, word)
    while shared and not _are_distinct(names, shared):
        shared = shared[:-1]
    return shared


def _shared_word(names: Sequence[Words], shared: Words) -> str:
    """Return the word that most names have next. '' if it is a verb or the last word."""
    size = len(shared)
    counts = Counter(parts[size] for parts in names if parts[:size] == shared and len(parts) > size + 1)
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    is_verb = word in STRONG or word in WEAK or word in TRANSITIONS
    return word if count >= 3 and count >= 0.6 * len(names) and not is_verb else ""


def _are_distinct(names: Sequence[Words], shared: Words) -> bool:
    """Whether names have more than a verb after these words, and differ."""
    ends = [parts[len(shared) :] for parts in names if parts[: len(shared)] == shared and len(parts) > len(shared)]
    followers = {singular(parts[0]) for parts in ends}
    return len(followers) > 1 and len({parts[0] for parts in ends if len(parts) == 1} & PLAIN_VERBS) < 2


def parse_tool_names(tools: Mapping[str, Tool]) -> dict[str, ParsedName]:
    """Return the parsed names of all tools, by tool id. The names of each server are parsed together."""
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    parsed_names: dict[str, ParsedName] = {}
    for mine in by_server.values():
        descriptions = {tool.name: tool.description for tool in mine}
        named = parse_names(descriptions, descriptions)
        parsed_names.update({tool.id: named[tool.name] for tool in mine})
    return parsed_names
