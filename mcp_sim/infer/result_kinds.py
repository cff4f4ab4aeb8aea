"""Fields of results that no tool declares, by the names and descriptions of tools.

`result_kinds.json` holds the usual fields of kinds of things, such as the price and the currency of a stock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any

from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import singular, snake, words

_LISTED = re.compile(
    r"\b(?:returns?|retrieves?|gets?|shows?|provides?|includ(?:es|ing)|containing|such as)\b:?\s+"
    r"((?:[^.;:\n]{1,60}:\s*)?[^.;:\n(){}\[\]]{3,200})",
    re.IGNORECASE,
)
_END = re.compile(r"\b(?:for|of|from|by|in|on|at|to|as|that|which|when|if|using|between|based|about|given|into)\b")
_BEGIN = re.compile(
    r".*(?::|\b(?:including|includes?|containing|contains|such as|like|with)\b)"
    r"(?: (?:the )?(?:keys|fields|properties)\b:?)?"
)
_ARTICLES = re.compile(r"^(?:(?:the|an?|its?|their|all|any|current|detailed|basic|various|with|and|or|also|more)\s+)+")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[ _-][a-z0-9]+){0,2}")
_TIMED = re.compile(r"(.*_)?(at|date|time|timestamp)")
_FLAG = re.compile(r"(is|has|can|was)_.+")
_LONGEST = 2


@cache
def _data() -> dict[str, Any]:
    return json.loads(get_data("mcp_sim.infer", "result_kinds.json") or b"")


@cache
def _kinds() -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the fields of each kind, by noun, and whether it is an attribute of something else."""
    return {noun: (tuple(one["fields"]), "attribute" in one) for one in _data()["kinds"] for noun in one["nouns"]}


@cache
def _fields_of_verbs() -> dict[str, tuple[str, ...]]:
    return {verb: tuple(one["fields"]) for one in _data()["verbs"] for verb in one["verbs"]}


def kind_fields(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the usual fields of what a name is about: its last known noun, and for attributes the one before."""
    found: list[str] = []
    for noun in _known_nouns(parts):
        fields, is_attribute = _kinds()[noun]
        found = [*fields, *found]
        if not is_attribute:
            break
    return tuple(dict.fromkeys(found))


def _known_nouns(parts: Sequence[str]) -> Iterator[str]:
    """Yield the nouns of a name whose kind is known, the last first."""
    end = len(parts)
    while end > 0:
        starts = range(max(0, end - _LONGEST), end)
        lasts = (parts[end - 1], singular(parts[end - 1]))
        spans = ("_".join((*parts[start : end - 1], last)) for start in starts for last in lasts)
        noun = next((span for span in spans if span in _kinds()), None)
        if noun is not None:
            yield noun
        end -= 1 if noun is None else noun.count("_") + 1


def verb_fields(verb: str) -> tuple[str, ...]:
    """Return the usual fields of what a verb computes or looks up; empty for other verbs."""
    return _fields_of_verbs().get(verb, ())


def described_fields(description: str) -> tuple[str, ...]:
    """Return the fields that a description lists: `Returns the temperature, humidity and wind speed.`"""
    for found in _LISTED.finditer(description):
        names = [*_listed_names(found[1].lower())]
        if len(names) > 1:
            return tuple(dict.fromkeys(names))
    return ()


def _listed_names(text: str) -> Iterator[str]:
    """Yield the names in a list, up to the first part that is no name."""
    for part in re.split(r",\s*(?:and\s+|or\s+)?|\s+and\s+|\s*&\s*|\s+plus\s+", _BEGIN.sub("", text)):
        bare = _ARTICLES.sub("", _END.split(part)[0].strip(" \"'`*-"))
        if _NAME.fullmatch(bare) and bare not in _data()["forms"]:
            yield snake(re.sub(r"[ -]", "_", bare.removesuffix(" etc")))
        if _END.search(part):
            return


def field_schema(name: str) -> Record:
    """Return a schema of the usual values of a field, by its name."""
    known, last = _data()["fields"], name.rsplit("_", 1)[-1]
    for one in (name, singular(last), last):
        if one in known:
            return known[one]
    if _FLAG.fullmatch(name):
        return {"type": "boolean"}
    for kind, lasts in (("integer", "counts"), ("number", "numbers")):
        if last in _data()[lasts] or singular(last) in _data()[lasts]:
            return {"type": kind}
    if _TIMED.fullmatch(name):
        return {"type": "string", "format": "date-time"}
    return {"type": "string"}


def schemas_of(names: Iterable[str]) -> dict[str, Record]:
    """Return the schemas of fields by their names."""
    return {name: field_schema(name) for name in names}


def is_text(name: str) -> bool:
    """Whether a field of this name holds a text of sentences."""
    return name.rsplit("_", 1)[-1] in _data()["texts"]


@cache
def acts() -> frozenset[str]:
    """Return the verbs that act on something outside, such as a click."""
    return frozenset(_data()["acts"])


def is_written_work(entity: str) -> bool:
    """Whether records of a kind are about something: articles, papers, pages."""
    return _is_of(entity, "works")


def is_person(entity: str) -> bool:
    """Whether records of a kind are people."""
    return _is_of(entity, "people")


def _is_of(entity: str, nouns: str) -> bool:
    return entity.rsplit("_", 1)[-1] in _data()[nouns]


def usual_fields(name: str, description: str) -> dict[str, Record]:
    """Return the fields of the result of a tool: those that its description lists, else those of its kind."""
    return schemas_of(described_fields(description) or kind_fields(words(name)))
