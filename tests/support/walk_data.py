"""Decide whether a tool promises data, and whether an answer has any. Reads names and descriptions, never plans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Literal, TypeAlias, cast

from mcp_sim.types import Record, Tool, ToolResult

Kind: TypeAlias = Literal["data", "key", "echo", "acknowledged", "empty"]
"""What an answer has: data, a key and no other data, only what was asked, only that it is done, or nothing."""
ORDER: Sequence[Kind] = ("data", "key", "echo", "acknowledged", "empty")
"""From the most that an answer shows to the least."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


READING = word_set(
    """
    browse check describe detail fetch filter find get identify inspect list lookup provide query read recommend
    retrieve search show suggest view
    """
)
COMPUTING = word_set(
    """
    aggregate analyse analyze calculate capture classify compare compute convert count decode decompile decompose
    detect disassemble divide estimate evaluate examine explain extract forecast geocode interpret lint measure
    multiply parse predict preview resolve screenshot snapshot solve subtract summarise summarize translate validate
    verify
    """
)
WRITING = word_set(
    """
    add append archive assign book buy cancel change clear close commit connect copy create delete disable download
    drop edit enable execute import insert install invite mark merge modify move navigate open patch pay post
    publish push put register remove rename replace reset restart run save schedule select send set share sort start
    stop submit subscribe switch toggle unsubscribe update upload write
    """
)
CREATING = frozenset({"add", "create", "insert", "new", "post", "register", "save", "upload", "write"})
PREPOSITIONS = frozenset({"by", "for", "from", "in", "of", "to", "with"})
ACKNOWLEDGING = word_set(
    """
    a accepted acknowledged all already and any are as at available been by call called complete completed created
    data deleted done empty ended error executed fetched finished for found from generated has have in is it items
    loaded made match matches matching message no none not nothing now null occurrences of ok okay on operation
    performed processed ran received records request result results retrieved returned run sent set so status
    success successful successfully succeeded than that the there these this to true updated was were with your zero
    0
    """
)
"""Words of answers that say no more than that the call is done, or that nothing was found."""
CONFIRMING = frozenset({"success", "confirmation", "message", "status", "none", "whether", "true", "operation"})
"""Words of what a tool returns that promise no data."""
NOTHING = frozenset({"no", "none", "not", "nothing", "empty", "0", "zero"})
SAYS_DONE = word_set(
    """
    acknowledged done error errors has_more hasmore is_error iserror message more ok status succeeded success
    """
)
"""Keys whose value says whether the call is done."""
COUNTING = ("count", "total", "size", "length", "found", "matches", "results", "n")
"""Endings of keys with the number of rows."""
KEYED = frozenset({"id", "ids", "key", "keys", "identifier", "number"})
"""Words of descriptions of tools that look up a key."""
KEYS = ("id", "ids", "key", "uuid", "guid")
"""Endings of keys with the key of a record."""
PAGES = frozenset({"page", "offset", "skip", "cursor"})
"""Endings of arguments that ask for a later page."""
STARTS = frozenset({"start", "start_row", "start_index", "startIndex", "startAt", "start_at"})
"""Other arguments that do."""
PLACES = frozenset({"path", "file", "filename", "document", "directory"})
"""Words of arguments that name what a conversion changes."""

_RETURNS = re.compile(r"(?:\breturns|^\s*return)\b(?: value)?\s*:?\s+(?P<what>[^\n.]{1,120})", re.IGNORECASE)
_TYPE = re.compile(r"^[\w.]+(?:\[[^:]*\])?\s*[:-]\s+")
_LEADING = word_set(
    """
    a allows and lets that the this to tool use used useful you your
    """
)


def promises_data(tool: Tool) -> bool:
    """Whether a tool reads or computes something, as far as its name, description and annotations say."""
    name, text = words(tool.name), words(tool.description[:300])
    verb = _verb(name) or _verb([word for word in text if word not in _LEADING][:1])
    if verb in WRITING or _also_writes(name):
        return False
    if verb == "convert" and any(PLACES & {*words(argument)} for argument in tool.input_schema.get("properties", {})):
        return False
    return verb is not None or tool.annotations.get("readOnlyHint") is True or _returns_something(tool.description)


def shows_what_others_create(tool: Tool, tools: Iterable[Tool]) -> bool:
    """Whether a tool shows records that other tools create, as far as their names say. Such a list may be empty."""
    made = {_noun(words(one.name)) for one in tools if CREATING.intersection(words(one.name))}
    return _noun(words(tool.name)) in made - {None}


def asks_for_a_later_page(arguments: Record) -> bool:
    """Whether a call asks for something behind the first page, which may well be empty."""
    return any(
        (words(name)[-1] in PAGES or name in STARTS) and (isinstance(value, str) or value > 1)
        for name, value in arguments.items()
        if words(name) and isinstance(value, str | int | float)
    )


def kind_of_answer(tool: Tool, arguments: Record, result: ToolResult) -> Kind:
    """Return what a successful answer has."""
    if result.form == "blocks" and any(block.get("type") != "text" for block in result.content):
        return "data"
    value = parsed(result.value)
    asked = Asked.of(tool, arguments)
    kinds = {_kind_of_leaf(leaf, asked) for leaf in leaves("", value)}
    if "data" in kinds or ("key" in kinds and (_has_rows(value) or KEYED & {*words(tool.description[:200])})):
        return "data"
    return next(kind for kind in ORDER if kind in {*kinds, "empty"})


@dataclass(frozen=True)
class Asked:
    """The words of a call: those of its tool, and those of its arguments."""

    tool: frozenset[str]
    arguments: frozenset[str]
    values: frozenset[str]

    @classmethod
    def of(cls, tool: Tool, arguments: Record) -> Asked:
        """Return the words of a call."""
        values = [value for _, value in leaves("", arguments)]
        named = {word for name in arguments for word in words(name)}
        return cls(
            frozenset(words(tool.name)),
            frozenset(named.union(*(tokens(value) for value in values))),
            frozenset(map(str, values)),
        )

    def mentions(self, token: str) -> bool:
        """Whether a word of an answer comes from the call, in any inflection if it comes from the name of the tool."""
        return token in self.arguments or any(token[:4] == word[:4] for word in self.tool)


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every scalar in a value with the last key that leads to it."""
    if isinstance(value, Mapping):
        for key, inner in cast("Record", value).items():
            yield from leaves(key, inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from leaves(name, inner)
    else:
        yield name, value


def parsed(value: Any) -> Any:
    """Return the JSON in a text, or the value itself."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in {"{", "["} else value
    except ValueError:
        return value


def words(name: str) -> list[str]:
    """Return the words of a name or a text in lower case, without the ending of the third person."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return [_plain(word.lower()) for word in found]


def tokens(value: Any) -> list[str]:
    """Return the words and numbers of a text."""
    return re.findall(r"[^\W_]+", str(value).lower())


def _plain(word: str) -> str:
    stems = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((stem for stem in stems if stem in READING | COMPUTING | WRITING), word)


def _verb(name: Sequence[str]) -> str | None:
    return next((word for word in name if word in READING | COMPUTING | WRITING), None)


def _noun(name: Sequence[str]) -> str | None:
    """Return the last noun of a name before a preposition, in the singular."""
    phrase = [*takewhile(lambda word: word not in PREPOSITIONS, name)]
    nouns = [word.removesuffix("s") for word in phrase if word not in READING | COMPUTING | WRITING]
    return nouns[-1] if nouns else None


def _also_writes(name: Sequence[str]) -> bool:
    """Whether a second verb of a name writes (`search_and_replace`)."""
    return any(first in {"and", "or"} and second in WRITING for first, second in pairwise(name))


def _returns_something(description: str) -> bool:
    """Whether a description says that something other than a confirmation is returned."""
    for match in _RETURNS.finditer(description):
        shown = tokens(_TYPE.sub("", match["what"].strip()))[:8]
        if shown and not CONFIRMING & {*shown}:
            return True
    return False


def _has_rows(value: Any) -> bool:
    """Whether a value has a list of records."""
    parts: list[Any] = [value, *(cast("Record", value).values() if isinstance(value, Mapping) else ())]
    return any(isinstance(rows, list) and bool(cast("list[Any]", rows)) for rows in parts)


def _kind_of_leaf(leaf: tuple[str, Any], asked: Asked) -> Kind:
    name, value = leaf
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "acknowledged" if name.lower() in SAYS_DONE or not name else "data"
    if str(value) in asked.values:
        return "echo"
    if isinstance(value, str):
        shown = tokens(value)
        if not name or len(shown) > 1 or name.lower() in SAYS_DONE:
            return _kind_of_prose(name, shown, asked)
    elif value == 0 and name.lower().endswith(COUNTING):
        return "empty"
    return "key" if words(name)[-1:] and words(name)[-1] in KEYS else "data"


def _kind_of_prose(name: str, shown: Sequence[str], asked: Asked) -> Kind:
    """Return what a text shows that its call does not."""
    new = [token for token in shown if token not in ACKNOWLEDGING and not asked.mentions(token)]
    if new or not shown:
        return "key" if words(name)[-1:] and words(name)[-1] in KEYS else "data"
    if NOTHING & {*shown} - asked.arguments:
        return "empty"
    return "acknowledged" if not name or ACKNOWLEDGING & {*shown} else "echo"
