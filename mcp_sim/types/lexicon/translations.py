"""English words for those of other languages: verbs in names of tools, nouns in names of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from mcp_sim.types.lexicon.english import last_word
from mcp_sim.types.lexicon.terms import by_word, terms

_SPACED = by_word("languages.verbs")
"""Verbs in names with separators -> the English verb; `_` joins the words of a phrase."""

_UNSPACED = by_word("languages.verbs_without_spaces")
_SMALL = terms("languages.small_words")
_MANY, _GETS = frozenset({"list", "search", "find"}), frozenset({"get", "show", "read"})
_PARTICLES = re.compile(r"^(?:一个|一個|所有|全部|的)+|(?:的|を|을|를)+$")
_SPLIT = re.compile(rf"^(?:{'|'.join(sorted(_UNSPACED, key=len, reverse=True))})|(?:{'|'.join(_UNSPACED)})$")

_NOUNS = by_word("languages.nouns")
"""Names of fields and things -> the English name with the same meaning."""


def in_english(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a tool's name with its verb in English and first, if it is in another language."""
    parts = tuple(_apart(parts))
    for size in (3, 1):
        head, tail = "_".join(parts[:size]), "_".join(parts[-size:])
        if len(parts) >= size and head in _SPACED:
            return _with_verb(_SPACED[head], parts[size:])
        if len(parts) > size and tail in _SPACED and (tail.endswith("n") or not tail.isascii()):
            return _with_verb(_SPACED[tail], parts[:-size])
    return parts


def _with_verb(verb: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """Return the verb and its noun. Getting a list of things is listing them."""
    noun = tuple(word for word in rest if word not in _SMALL)
    is_list = len(noun) > 1 and _SPACED.get(noun[0]) == "list"
    return ("list", *noun[1:]) if is_list else (verb, *noun)


def _apart(parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the words, those written without spaces taken apart: `创建订单` is to create a `订单`."""
    verbs = [_UNSPACED[verb] for word in parts for verb in _SPLIT.findall(word)]
    if not verbs:
        yield from parts
        return
    yield "list" if "list" in verbs else verbs[0]
    yield from (left for word in parts if (left := _PARTICLES.sub("", _SPLIT.sub("", word))))


def one_noun_each(names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the names with nouns that differ only in their ending, such as singular and plural, made the same.

    The noun is that of the tools that write single records; tools that get the other one list them.
    """
    ones = sorted({parts[1:] for parts in names.values() if parts[0] not in _MANY | _GETS and len(parts) > 1})
    return {name: _of_one(parts, ones) for name, parts in names.items()}


def _of_one(parts: tuple[str, ...], ones: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    noun = parts[1:]
    known = (
        next((pair for pair in ones if pair[:-1] == noun[:-1] and _is_alike(pair[-1], noun[-1])), noun) if noun else ()
    )
    if noun in ones or known == noun:
        return parts
    return ("list" if parts[0] in _GETS else parts[0], *known)


def _is_alike(value: str, other: str) -> bool:
    stem = max(3, len(value) - 1)
    return value[:stem] == other[:stem] and max(len(value), len(other)) - stem <= 3


@lru_cache(maxsize=4096)
def noun_in_english(name: str) -> str:
    """Return the English name of a field or thing in another language; the name itself if it is unknown."""
    known = _NOUNS.get(name) or _NOUNS.get(last_word(name))
    if known is not None or name.isascii():
        return known or name
    ending = max((end for end in _NOUNS if len(end) > 1 and name.endswith(end)), key=len, default=None)
    if ending is None:
        return name
    whose = name.removesuffix(ending).strip("_的")
    return f"{_NOUNS.get(whose, whose)}_{_NOUNS[ending]}"


def verb_in_english(word: str) -> str | None:
    """Return the English verb that a word is, or begins with, or None."""
    match = None if word.isascii() else _SPLIT.match(word)
    return _SPACED.get(word) or (_UNSPACED[match[0]] if match is not None else None)
