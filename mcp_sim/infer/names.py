"""Parsing of single tool names: the verb, the noun, one record or many; and the nouns of all names together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_sim.infer.verbs import STRONG, TRANSITIONS, WEAK, find_verb
from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import is_plural, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.lexicon.translations import in_english
from mcp_sim.types.plans import Verb

Words: TypeAlias = "tuple[str, ...]"
LONGEST_NOUN = 8
"""The most words of a noun that is looked up inside a longer name, so that long names take linear time."""

_ONE_OF_A_KIND, _BATCH = terms("phrases.one_of_a_kind"), terms("phrases.batch")
_FILLERS = terms("phrases.fillers", "phrases.one_of_a_kind", "phrases.batch")
_PREPOSITIONS, _LISTS = terms("phrases.prepositions"), terms("phrases.lists")
_NOISE = terms("phrases.facts", "phrases.records", "phrases.lists")
_VERB_OF_STATE = {
    state: verb for verb, state in reversed([*TRANSITIONS.items()]) if state.startswith(verb[:2])
} | by_word("states.marks")
"""Verbs by the state that they lead to: `pay` by `paid`."""

COLLECTIONS = terms("nouns.collections")
"""Last words of names of tables that name no entity: `list`, `map`."""


@dataclass(frozen=True, slots=True)
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
    parts = parts if find_verb(parts) is not None else in_english(parts)
    place = find_verb(parts)
    return parse_noun_phrase(parts) if place is None else _resolve_mark(_parse_with_verb(parts, place))


def _parse_with_verb(parts: Words, place: int) -> ParsedName:
    word = parts[place]
    phrase = parse_noun_phrase(parts[1:] if place == 0 else parts[:place])
    verb = STRONG.get(word) or WEAK.get(word, "update")
    if verb == "search" and phrase.noun and not phrase.plural and phrase.after[:1] == ("by",):
        verb = "get"
    sure = word in STRONG and not {"and", "or"} & {*parts}
    return replace(phrase, verb=of_number(verb, phrase), word=word, sure=sure, status=TRANSITIONS.get(word))


def of_number(verb: Verb, phrase: ParsedName) -> Verb:
    """Return the verb for one noun or several: who gets several lists them."""
    return "list" if verb == "get" and phrase.plural else verb


def parse_noun_phrase(rest: Words) -> ParsedName:
    """Parse the words of a name without its verb."""
    cut = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    phrase = rest[:cut]
    listed = "all" in phrase or (len(phrase) > 1 and phrase[-1] in _LISTS)
    kept = tuple(word for word in phrase if word not in _FILLERS)
    while len(kept) > 1 and kept[-1] in _NOISE:
        kept = kept[:-1]
    return ParsedName(
        noun=words(singular_phrase(kept)),
        after=rest[cut:],
        plural=listed or bool(kept and is_plural(kept[-1])),
        batch=not _BATCH.isdisjoint(phrase),
        one_of_a_kind=not _ONE_OF_A_KIND.isdisjoint(phrase),
    )


def _resolve_mark(parsed: ParsedName) -> ParsedName:
    """Resolve `mark_task_done` to complete, `mark_as_incomplete` to reopen, `mark_paid` to pay."""
    is_as = parsed.after[:1] == ("as",)
    noun, state = (parsed.noun, parsed.after[-1:]) if is_as else (parsed.noun[:-1], parsed.noun[-1:])
    verb = _VERB_OF_STATE.get(state[0]) if state and parsed.word == "mark" else None
    return parsed if verb is None else replace(parsed, word=verb, noun=noun, after=(), status=TRANSITIONS[verb])


@dataclass(frozen=True, slots=True)
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers."""

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts = words(name)
        while len(parts) > 1 and parts[-1] in COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_nouns(parsed_names: Iterable[ParsedName], tools: Iterable[Tool]) -> Nouns:
    """Collect the nouns that names of tools and of id arguments mention, and the arguments."""
    names: set[str] = set()
    for parsed in parsed_names:
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    parts = [(snake(name), part) for tool in tools for name, part in properties(tool.input_schema).items()]
    names |= {name.removesuffix("_id") for name, _ in parts if name.endswith("_id")}
    numbers = frozenset(name for name, part in parts if main_type(part) == "integer")
    return Nouns(frozenset(names - terms("nouns.generic")), frozenset(name for name, _ in parts), numbers)
