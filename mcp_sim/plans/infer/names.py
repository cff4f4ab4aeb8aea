"""Parsing of the names of a server's tools, with their descriptions: the verb, the noun, one record or many."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

from mcp_sim.plans.infer.verbs import (
    COUNT,
    CREATION_VERBS,
    INSPECTION_VERBS,
    MARKS,
    PHRASES,
    PLAIN_VERBS,
    RECORDLESS_VERBS,
    RETURN_VERBS,
    STRONG,
    TRANSITIONS,
    VERBS_OF_RECORDS,
    WEAK,
    classify_verb,
    find_described_verb,
    find_recordless_verb,
    find_verb,
    plain_form,
    skip_opener,
)
from mcp_sim.types import Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.english import is_plural, noun_of_id, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import table, terms
from mcp_sim.types.lexicon.translations import in_english, one_noun_each
from mcp_sim.types.plans import Verb

Words: TypeAlias = "tuple[str, ...]"
_FEWEST_VERBS, _MOST = 3, 0.6
"""When a prefix is the noun: at least three names, and most of all, are sure verbs behind it."""
LONGEST_NOUN = 8
"""The most words of a noun that is looked up inside a longer name, so that long names take linear time."""

_DETAILS = terms("nouns.details")
_CALLER, _ASKING = ("current", "user"), terms("phrases.asking_for_caller")
_ONE_OF_A_KIND, _BATCH = terms("phrases.one_of_a_kind"), terms("phrases.batch")
_EXTREMES = terms("arguments.newest", "arguments.oldest")
_FILLERS = terms("phrases.fillers", "phrases.one_of_a_kind", "phrases.batch")
_PREPOSITIONS, _LISTS = terms("phrases.prepositions"), terms("phrases.lists")
_NOISE = terms("phrases.facts", "phrases.records", "phrases.lists")
_RECORDS = _NOISE & terms("results.rows") - _LISTS
_ENTERING = table("verbs.entering")
_VERSION = re.compile(r"(?:(?:^|[^A-Za-z0-9])v|(?<=[a-z])V)\d+(?:[._]\d+)*(?![A-Za-z0-9])")
_CLAUSE_END = re.compile(r"[^\w\s'-]|\n")
_TWO_VERBS = re.compile(r"(\w+)(?:/| or )(\w+)\b")
_REPLACES = terms("arguments.write_mode.replace")
_LEADING_VERBS = RECORDLESS_VERBS | CREATION_VERBS | INSPECTION_VERBS


@frozen
class ParsedName:
    """What a tool name says.

    `noun` is the noun phrase in the singular, `after` the words behind a preposition. `status` is the state that a verb
    like `close` leads to. `sure` is False for ambiguous verbs. `described_verb` is the verb that the description begins
    with; with `verb_from_description`, the name has no other. `recordless_verb` is a verb of the name that touches no
    records.
    """

    verb: Verb = "unknown"
    noun: Words = ()
    after: Words = ()
    word: str = ""
    plural: bool = False
    sure: bool = False
    batch: bool = False
    one_of_a_kind: bool = False
    status: str | None = None
    described_verb: str = ""
    verb_from_description: bool = False
    recordless_verb: str = ""

    @property
    def act(self) -> str:
        """The verb of the name, also one that may touch no records."""
        return self.word or self.recordless_verb

    @property
    def object(self) -> Words:
        """The noun without a verb before it: `pump` of `stop_pump`."""
        is_behind = self.recordless_verb != "" and self.noun[:1] == (self.recordless_verb,)
        return (self.noun[1:] if is_behind else ()) or self.noun


_READS = frozenset({"get", "list", "search"})


def noun_spans(size: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of the nouns in a phrase of `size` words: by start, the longest first."""
    for start in range(size):
        for end in range(min(start + LONGEST_NOUN, size), start, -1):
            yield start, end


def first_nouns(phrase: Words) -> Iterator[Words]:
    """Yield the nouns that a phrase begins with, without itself, the longest first."""
    return (phrase[:end] for end in range(min(len(phrase) - 1, LONGEST_NOUN), 0, -1))


def last_nouns(phrase: Words) -> Iterator[Words]:
    """Yield the nouns that a phrase ends with, itself included if it is not too long, the longest first."""
    return (phrase[start:] for start in range(max(0, len(phrase) - LONGEST_NOUN), len(phrase)))


def parse_name(parts: Words) -> ParsedName:
    """Parse the words of one name."""
    if len(parts) > 2 and parts[0] in _BATCH:
        return replace(parse_name(parts[1:]), batch=True)
    place = find_verb(parts)
    return parse_noun_phrase(parts) if place is None else _parse_with_verb(parts, place)


def _parse_with_verb(parts: Words, place: int) -> ParsedName:
    word = parts[place]
    phrase = parse_noun_phrase(parts[1:] if place == 0 else parts[:place])
    verb = STRONG.get(word) or WEAK.get(word, "update")
    if verb == "search" and phrase.noun and not phrase.plural and phrase.after[:1] == ("by",):
        verb = "get"
    sure = word in STRONG and not {"and", "or"} & {*parts}
    return replace(phrase, verb=_of_number(verb, phrase), word=word, sure=sure, status=TRANSITIONS.get(word))


def _of_number(verb: Verb, phrase: ParsedName) -> Verb:
    """Return the verb for one noun or several: who gets several lists them."""
    return "list" if verb == "get" and phrase.plural else verb


def parse_noun_phrase(rest: Words) -> ParsedName:
    """Parse the words of a name without its verb."""
    cut = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    phrase = rest[:cut]
    listed = "all" in phrase or (len(phrase) > 1 and (phrase[-1] in _LISTS or phrase[-1] in _RECORDS))
    kept = tuple(word for word in phrase if word not in _FILLERS)
    while len(kept) > 1 and kept[-1] in _NOISE:
        kept = kept[:-1]
    plural = listed or bool(kept and is_plural(kept[-1]))
    return ParsedName(
        noun=words(singular_phrase(kept)),
        after=rest[cut:],
        plural=plural,
        batch=not _BATCH.isdisjoint(phrase),
        one_of_a_kind=not (_ONE_OF_A_KIND if plural else _ONE_OF_A_KIND | _EXTREMES).isdisjoint(phrase),
    )


def parse_tool_names(tools: Mapping[str, Tool], given: AbstractSet[Words] = frozenset()) -> dict[str, ParsedName]:
    """Return the parsed names of all tools, by tool id. The names of each server are parsed together.

    `given` are the nouns that a given state mentions.
    """
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    parsed_names: dict[str, ParsedName] = {}
    for mine in by_server.values():
        descriptions = {tool.name: tool.description for tool in mine}
        arguments = {snake(name) for tool in mine for name in properties(tool.input_schema)}
        named = frozenset(words(noun_of_id(name) or name) for name in arguments)
        parsed = parse_names(descriptions, descriptions, given, named)
        parsed_names.update({tool.id: parsed[tool.name] for tool in mine})
    return parsed_names


def parse_names(
    names: Iterable[str],
    descriptions: Mapping[str, str] = MappingProxyType({}),
    given: AbstractSet[Words] = frozenset(),
    named: AbstractSet[Words] = frozenset(),
) -> dict[str, ParsedName]:
    """Parse the names of the tools of one server.

    First words that most names share are dropped, unless they are the noun: `task_create`, `task_list`, `task_delete`.
    `descriptions` and the nouns of a `given` state fill gaps that names leave. `named` are those of arguments.
    """
    bare = _translate({name: words(last_segment(name)) for name in names})
    shared = _shared_prefix([*bare.values()])
    size = len(shared)
    bare = {name: _join_phrase(parts[size:] if parts[:size] == shared else parts) for name, parts in bare.items()}
    bare = _with_owners_last(_with_lists_joined(_without_services(bare, given | named)))
    if _CALLER in given:
        bare = {name: ("get", *_CALLER) if "_".join(parts) in _ASKING else parts for name, parts in bare.items()}
    parsed_names = _with_described_nouns({name: parse_name(parts) for name, parts in bare.items()}, descriptions)
    parsed_names = _with_shared_noun(parsed_names, shared)
    parsed_names = {name: _with_given_noun(parsed, bare[name], given) for name, parsed in parsed_names.items()}
    nouns = {parsed.noun for parsed in parsed_names.values() if parsed.noun and parsed.verb != "unknown"} | given
    return {
        name: _complete(parsed, bare[name], descriptions.get(name, ""), nouns) for name, parsed in parsed_names.items()
    }


def _with_given_noun(parsed: ParsedName, parts: Words, given: AbstractSet[Words]) -> ParsedName:
    """Return a parsed name with all words behind the verb as its noun if the state has it: `logged_in_users`."""
    whole = words(singular_phrase(parts[1:])) if parsed.after and parts[1:] else ()
    is_given = whole in given and parsed.after[1:] not in given
    return replace(parsed, noun=whole, after=(), plural=is_plural(parts[-1])) if is_given else parsed


def last_segment(name: str) -> str:
    """Return what follows the last separator: `slack.post_message`, `jira/create_issue`, `mcp__jira__create_issue`.

    A version of the API is left out: `get_hubs_v2025.0`, `v1_tasks_get`, `listUsersV2`.
    """
    return re.split(r"[./:]|__", _VERSION.sub("", name).strip("_./:-"))[-1] or name


def _translate(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Translate names with a verb in another language."""
    read_so = {name: in_english(parts) for name, parts in bare.items() if parts and find_verb(parts) is None}
    foreign = {name: parts for name, parts in read_so.items() if parts != bare[name]}
    return {**bare, **one_noun_each(foreign)}


def _join_phrase(parts: Words) -> Words:
    """Join `turn on` into one word, `create or update`, and `mark as done`."""
    if parts[:1] == ("mark",) and parts[-1] in MARKS:
        return (MARKS[parts[-1]], *(word for word in parts[1:-1] if word != "as"))
    if parts[1:2] == ("or",) and _is_upsert(parts[0], *parts[2:3]):
        return ("upsert", *parts[3:])
    if parts[1:2] == ("or",) and len(parts) > 3 and parts[0] in STRONG:
        return (parts[0], *parts[3:])  # `create_or_join_lobby`
    return ("_".join(parts[:2]), *parts[2:]) if parts[:2] in PHRASES else parts


def _with_lists_joined(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Join `price list` into one word where lists are records: there are several of them, or one is created."""
    pairs = {(first, singular(second)) for parts in bare.values() for first, second in pairwise(parts)
             if singular(second) in _LISTS and first not in VERBS_OF_RECORDS
             and (is_plural(second) or STRONG.get(parts[0]) == "create")}  # fmt: skip
    return {name: _joined(parts, pairs) for name, parts in bare.items()} if pairs else {**bare}


def _joined(parts: Words, pairs: AbstractSet[tuple[str, str]]) -> Words:
    at = next((at for at, (first, second) in enumerate(pairwise(parts)) if (first, singular(second)) in pairs), None)
    return parts if at is None else (*parts[:at], "_".join(parts[at : at + 2]), *parts[at + 2 :])


def _without_services(bare: Mapping[str, Words], named: AbstractSet[Words]) -> dict[str, Words]:
    """Return the names without the service that several begin with, before a verb: `mail_get_draft`, `mail_add_label`.

    The nouns of other names, of arguments and of the state are not services: `board_add_card` is about boards beside
    `list_boards`, or if it takes a `board_id`.
    """
    places = {name: _verb_behind(parts) for name, parts in bare.items()}
    counts = Counter(parts[: places[name]] for name, parts in bare.items() if places[name])
    others = [parse_name(parts) for name, parts in bare.items() if not places[name]]
    nouns = {parsed.noun for parsed in others if parsed.sure} | named
    services = {
        first
        for first, count in counts.items()
        if count >= _FEWEST_VERBS and words(singular_phrase(first)) not in nouns
    }
    plain = {
        name: parts[places[name] :] if parts[: places[name]] in services else parts for name, parts in bare.items()
    }
    return plain if len({*plain.values()}) == len({*bare.values()}) else {**bare}


def _verb_behind(parts: Words) -> int:
    """Return the place of a sure verb behind the first word and before the last one, or 0."""
    places = (at for at in range(1, len(parts) - 1) if parts[at] in STRONG or parts[at] in TRANSITIONS)
    return next(places, 0) if (VERBS_OF_RECORDS | _FILLERS).isdisjoint(parts[:1]) else 0


def _with_owners_last(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Return `add tag to todo` for `todo add tag`, where other tools have todos."""
    changing = {name: parts for name, parts in bare.items() if _changes_an_owner(parts)}
    owners = {parse_name(parts).noun for name, parts in bare.items() if name not in changing}
    turned = {
        name: (parts[-2], parts[-1], "from" if parts[-2] == "remove" else "to", *parts[:-2])
        for name, parts in changing.items()
        if parse_noun_phrase(parts[:-2]).noun in owners
    }
    return {**bare, **turned}


def _changes_an_owner(parts: Words) -> bool:
    """Whether a name ends with what is added or removed, behind the noun of what it is added to."""
    is_ending = len(parts) > 2 and parts[-2] in _ENTERING and parts[0] not in STRONG
    return is_ending and not {*parts[-1:]} & (_FILLERS | _PREPOSITIONS | _NOISE)


def _is_upsert(first: str, second: str = "") -> bool:
    """Whether `first or second` is to create or update."""
    return classify_verb(first) == "create" and (STRONG.get(second) == "update" or second in _REPLACES)


def _complete(parsed: ParsedName, parts: Words, about: str, nouns: AbstractSet[Words]) -> ParsedName:
    """Complete a parsed name with the verb of its description, and with that verb alone if it lacks one."""
    described_verb = find_described_verb(about)
    if parts[:1] in nouns and len(parts) == 2 and parts[-1] in _DETAILS:
        parsed = parse_noun_phrase(parts)  # `show_details`, where the state has shows
    if not parsed.sure and parsed.word in parts[:1] and parts[:1] in nouns:
        if STRONG.get(described_verb) in _READS:
            parsed = parse_noun_phrase(parts)  # `place_details`, where other tools search places
        elif parts[-1] in STRONG and len(parts) > 1:
            parsed = _parse_with_verb(parts, len(parts) - 1)  # `link_update`, where other tools list links
    if parsed.word == "post" and STRONG.get(described_verb) in _READS:
        parsed = replace(parsed, verb=_of_number(STRONG[described_verb], parsed), word=described_verb)  # an HTTP method
    if parsed.verb == "unknown" and parts:
        is_said = parts[0] in _FILLERS or about.lower().startswith(" ".join(parts))
        is_phrase = is_said and len(parts) > 1 and not find_recordless_verb(parts, described_verb)
        parsed = parse_noun_phrase(parts) if is_phrase else _with_found_verb(parsed, parts, described_verb, nouns)
    pair = _TWO_VERBS.match(skip_opener(about).lower()) if parsed.verb == "create" else None
    is_upsert = pair is not None and _is_upsert(*map(plain_form, pair.groups()))
    return replace(parsed, described_verb=described_verb, word="upsert" if is_upsert else parsed.word)


def _with_described_nouns(
    parsed_names: dict[str, ParsedName], descriptions: Mapping[str, str]
) -> dict[str, ParsedName]:
    """Return the names, those that are only verbs with the noun that the descriptions of several share.

    `add` ("Create a task"), `edit` ("Edit a task") and `close` ("Close a task") are about tasks, and so are the names
    in a namespace, `tasks.add`.
    """
    phrases = {
        name: _described_phrase(descriptions.get(name, ""))
        for name, parsed in parsed_names.items()
        if parsed.verb != "unknown" and not parsed.noun and not parsed.after
    }
    counts = Counter(phrase.noun for phrase in phrases.values() if phrase.noun)
    shared = {name: phrase for name, phrase in phrases.items() if counts[phrase.noun] > 1}
    return parsed_names | {
        name: replace(
            parsed_names[name], noun=phrase.noun, plural=phrase.plural, verb=_of_number(parsed_names[name].verb, phrase)
        )
        for name, phrase in shared.items()
    }


def _with_shared_noun(parsed_names: dict[str, ParsedName], shared: Words) -> dict[str, ParsedName]:
    """Return the names, those that are only verbs with what all begin with: `kb` of `kb_add` and `kb_show`."""
    verbs = [
        name for name, parsed in parsed_names.items() if parsed.verb != "unknown" and parsed.act and not parsed.noun
    ]
    sure = [name for name in verbs if parsed_names[name].sure]
    noun = parse_noun_phrase(shared).noun
    if len(sure) < max(_FEWEST_VERBS, _MOST * len(parsed_names)) or not noun:
        return parsed_names
    return parsed_names | {name: replace(parsed_names[name], noun=noun) for name in verbs}


def _described_phrase(about: str) -> ParsedName:
    """Return the noun phrase behind the first verb of a description: `task` of `Create a task (with labels)`."""
    clause = _CLAUSE_END.split(skip_opener(about), maxsplit=1)[0].lower()
    return parse_noun_phrase(words(clause)[1:])


def _with_found_verb(parsed: ParsedName, parts: Words, described_verb: str, nouns: AbstractSet[Words]) -> ParsedName:
    """Return a parsed name without a usual verb with the one that is found elsewhere, if any."""
    recordless_verb = find_recordless_verb(parts, described_verb)
    verb = _infer_verb(parts, described_verb, recordless_verb, nouns)
    if verb is None:
        rest = parse_noun_phrase(parts[1:])
        if rest.noun in nouns and parts[0] in _EXTREMES:  # `last_inspection`
            return replace(rest, one_of_a_kind=not rest.plural)
        if rest.noun in nouns and not recordless_verb:  # `terminate_employee`, where other tools have employees
            return replace(rest, word=parts[0])
        return replace(parsed, recordless_verb=recordless_verb)
    first, *others = parts
    starts = bool(others) and first in _LEADING_VERBS
    is_known = parse_noun_phrase(parts[1:]).noun in nouns and parts[:1] not in nouns
    is_act = is_known and verb not in _READS  # `hire_employee` beside `get_employee`
    phrase = parse_noun_phrase(parts[1:] if starts or is_act else parts)
    word = first if starts else described_verb
    return replace(phrase, verb=_of_number(verb, phrase), word=word, verb_from_description=not starts)


def _infer_verb(parts: Words, described_verb: str, recordless_verb: str, nouns: AbstractSet[Words]) -> Verb | None:
    """Return the verb that other tools and the description imply, or None."""
    rest = parse_noun_phrase(parts[1:]).noun
    if parts[0] in CREATION_VERBS and rest in nouns:
        return "create"
    if parts[0] == COUNT and rest in nouns:
        return "list"
    if parts[0] in INSPECTION_VERBS:
        return "get" if not nouns.isdisjoint((rest, *first_nouns(rest), *last_nouns(rest))) else None
    is_return = described_verb in RETURN_VERBS
    return None if recordless_verb else "get" if is_return else STRONG.get(described_verb)


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
    return word if count >= 3 and count >= 0.6 * len(names) and word not in VERBS_OF_RECORDS else ""


def _are_distinct(names: Sequence[Words], shared: Words) -> bool:
    """Whether names have more than a verb after these words, and differ. A plural is a noun of any verbs."""
    size = len(shared)
    ends = [parts[size:] for parts in names if parts[:size] == shared and len(parts) > size]
    followers = {singular(parts[0]) for parts in ends}
    verbs = STRONG.keys() if is_plural(shared[-1]) else PLAIN_VERBS
    return len(followers) > 1 and len({parts[0] for parts in ends if len(parts) == 1} & verbs) < 2
