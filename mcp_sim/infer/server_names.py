"""Parsing of all tool names of a server, together with their descriptions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType

from mcp_sim.infer.names import (
    LONGEST_NOUN,
    ParsedName,
    Words,
    add_described_noun,
    first_nouns,
    last_nouns,
    parse_name,
    parse_noun_phrase,
    put_verb_first,
    resolve_mark,
)
from mcp_sim.infer.verbs import (
    CREATION_VERBS,
    INSPECTION_VERBS,
    MAY_READ,
    NOUNS_TOO,
    PHRASES,
    PLAIN_VERBS,
    RECORDLESS_VERBS,
    RETURN_VERBS,
    STRONG,
    TRANSITIONS,
    WEAK,
    classify_verb,
    find_described_verb,
    find_recordless_verb,
    find_verb,
    skip_opener,
)
from mcp_sim.types.lexicon.english import singular, singular_phrase, vocabulary, words
from mcp_sim.types.lexicon.translations import in_english, one_noun_each
from mcp_sim.types.plans import Verb

_CREATE_WORDS, _UPDATE_WORDS = vocabulary("create add insert"), vocabulary("update replace edit modify patch set")
_CREATES_OR_UPDATES = re.compile(
    r"(?:create|add|insert|save|store|set|write)s?(?:/| or )(?:updates?|replaces?|overwrites?|edits?)\b", re.IGNORECASE
)
"""Beginnings of descriptions of upserts."""

_READS, _WRITES = frozenset({"get", "list", "search"}), frozenset({"create", "update", "delete"})
_DETERMINERS = vocabulary(
    "a an the all any one your my its each every new existing single specific given stored saved matching recent more "
    "or and other multiple several available current"
)
_PHRASE_ENDS = vocabulary(
    "by for from with in into of to that which where when matching using on at as is are if based via whose stored "
    "and or optionally"
)
_MAX_WORDS = 3
"""Maximum length of a noun phrase."""


def parse_names(names: Iterable[str], descriptions: Mapping[str, str] = MappingProxyType({})) -> dict[str, ParsedName]:
    """Parse the names of the tools of one server.

    First words that most names share are dropped, unless they are the noun: `task_create`, `task_list`, `task_delete`.
    `descriptions` fill gaps that names leave.
    """
    bare = _translate({name: words(last_segment(name)) for name in names})
    shared = _shared_prefix([*bare.values()])
    bare = {name: parts[len(shared) :] if parts[: len(shared)] == shared else parts for name, parts in bare.items()}
    bare = put_verb_first(
        _swap_leading_noun(_add_namespaces({name: _join_phrase(parts) for name, parts in bare.items()}))
    )
    parsed_names = add_shared_noun(
        {name: resolve_mark(parse_name(parts)) for name, parts in bare.items()}, descriptions
    )
    nouns = {parsed.noun for parsed in parsed_names.values() if parsed.noun and parsed.verb != "unknown"}
    listed = {parsed.noun for parsed in parsed_names.values() if parsed.noun and parsed.verb == "list"}
    parsed_names = {
        name: add_described_noun(parsed, descriptions.get(name, ""), nouns, listed)
        for name, parsed in parsed_names.items()
    }
    completed = {
        name: _complete(parsed, bare[name], find_described_verb(descriptions.get(name, "")), nouns)
        for name, parsed in parsed_names.items()
    }
    return {name: _with_upsert(parsed, descriptions.get(name, "")) for name, parsed in completed.items()}


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


def _swap_leading_noun(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Swap `hold_place` beside `hold_list`: an ambiguous word is a noun if several verbs follow it."""
    verbs = frozenset({*STRONG, *WEAK, *TRANSITIONS})
    pairs = {(name, parts[0]) for name, parts in bare.items() if len(parts) == 2 and parts[1] in verbs}
    counts = Counter(noun for _, noun in pairs if noun in NOUNS_TOO)
    turned = {name for name, noun in pairs if counts[noun] > 1}
    return {name: (parts[1], parts[0]) if name in turned else parts for name, parts in bare.items()}


def _add_namespaces(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Add the nouns of namespaces, if there are several: `courses.list`, `grades.set`.

    A single one is added if the names are mere verbs: `notes.add`, `notes.list`, `notes.search`.
    """
    spaces = {name: words(_segments(name)[-2]) for name in bare if len(_segments(name)) > 1}
    mere_verbs = [name for name in spaces if len(bare[name]) == 1 and parse_name(bare[name]).verb != "unknown"]
    if len({*spaces.values()}) < 2 and (len(mere_verbs) < 2 or len(mere_verbs) < len(bare)):
        return dict(bare)
    return {
        name: _insert_namespace(parts, spaces[name]) if name in spaces and not parse_name(parts).noun else parts
        for name, parts in bare.items()
    }


def _insert_namespace(parts: Words, space: Words) -> Words:
    """Insert the namespace after the verb of a name without a noun."""
    noun = space if parse_name(parts).verb in {"list", "search"} else words(singular_phrase(space))
    return (*parts[:1], *noun, *parts[1:])


def _complete(parsed: ParsedName, parts: Words, described_verb: str, nouns: AbstractSet[Words]) -> ParsedName:
    """Complete a name without a verb from the other tools and the description."""
    if parsed.verb != "unknown" or len(parts) == 0:
        return replace(_resolve_opening(parsed, described_verb), described_verb=described_verb)
    fused = _split_fused(parts, nouns)
    if fused is not None:
        return replace(parse_name(fused), described_verb=described_verb)
    recordless_verb = find_recordless_verb(parts, described_verb)
    verb = _infer_verb(parts, described_verb, recordless_verb, nouns)
    if verb is None:
        return replace(parsed, described_verb=described_verb, recordless_verb=recordless_verb)
    starts = parts[0] in RECORDLESS_VERBS | CREATION_VERBS | INSPECTION_VERBS and len(parts) > 1
    word, rest = (parts[0], parts[1:]) if starts else (described_verb, parts)
    noun, after, plural, batch, special = parse_noun_phrase(rest)
    if verb == "get" and plural:
        verb = "list"
    return ParsedName(
        verb,
        noun,
        after,
        word,
        plural,
        batch=batch,
        one_of_a_kind=special,
        described_verb=described_verb,
        verb_from_description=not starts,
    )


def _resolve_opening(parsed: ParsedName, described_verb: str) -> ParsedName:
    """Resolve `open_case`: it creates one, unless its description begins with `get`."""
    verb = STRONG.get(described_verb)
    if parsed.word not in MAY_READ or parsed.verb != "create" or verb not in {"get", "list", "search"}:
        return parsed
    return replace(parsed, verb="list" if verb == "get" and parsed.plural else verb)


def _split_fused(parts: Words, nouns: AbstractSet[Words]) -> Words | None:
    """Split `listprompts`, if other tools mention prompts."""
    whole = parts[0] if len(parts) == 1 else ""
    verb = next((verb for verb in PLAIN_VERBS if whole.startswith(verb)), None)
    rest = whole.removeprefix(verb or "")
    return (verb, rest) if verb is not None and (singular(rest),) in nouns else None


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


def add_shared_noun(parsed_names: Mapping[str, ParsedName], descriptions: Mapping[str, str]) -> dict[str, ParsedName]:
    """Return the parsed names. Mere verbs get the noun that most descriptions agree on.

    They stay if the descriptions disagree, or if there is no reading or no writing.
    """
    bare = {name: one for name, one in parsed_names.items() if not one.noun and one.verb in _READS | _WRITES}
    verbs = {one.verb for one in bare.values()}
    if verbs.isdisjoint(_READS) or verbs.isdisjoint(_WRITES):
        return dict(parsed_names)
    heads = Counter(head for name in bare if (head := _object_noun(descriptions.get(name, ""))))
    noun, times = next(iter(heads.most_common(1)), ("", 0))
    if times < 2:
        return dict(parsed_names)
    return {**parsed_names, **{name: _with_noun(noun, one) for name, one in bare.items()}}


def _with_noun(noun: str, parsed: ParsedName) -> ParsedName:
    return replace(parsed, noun=(noun,), plural=parsed.verb in {"list", "search"}, implied=True)


def _object_noun(description: str) -> str:
    """Return the object of the verb in a description: `entry` of `Create or update a KB entry by its key`."""
    phrase = [*_object_phrase(skip_opener(description))]
    return singular(phrase[-1]) if phrase else ""


def _object_phrase(text: str) -> Iterator[str]:
    found = 0
    for at, token in enumerate(re.findall(r"[\w'-]+|[^\w\s]", text.lower())):
        if at == 0 or (not found and (token in _DETERMINERS or classify_verb(token))):
            continue
        if token in _PHRASE_ENDS or not token[0].isalpha() or found == _MAX_WORDS:
            return
        found += 1
        yield token
