"""Fields of results that no tool declares, by the names and descriptions of tools.

`record_kinds.json` holds the usual fields of kinds of things, such as the price and the currency of a stock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any

from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import is_plural, singular, snake, words

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
_SHARED = re.compile(r"(?:^|(?<=, )|(?<=with )|(?<=the ))(\w+) (?:and|or) (\w+) (date|time|name)s\b")
"""A word that two names share: `start and end dates`."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[ _-][a-z0-9]+){0,2}")
_OBJECT = re.compile(
    r"\s*\w+\s+((?:[\w'-]+\s+){0,4}?[\w'-]+)(?=\s+(?:of|for|from|by|in|on|at|to|with|near|based|that|which|using)\b|[.,:;(\n]|\s*$)"
)
"""The object of the first verb of a description: `track recommendations` in `Get track recommendations for ...`."""

_NAMES = frozenset({"name", "title", "topic", "subject"})
_TIMED = re.compile(r"(.*_)?(at|date|time|timestamp)")
_FLAG = re.compile(r"(is|has|can|was)_.+")
_COUNTED = re.compile(r"[a-z]+_[a-z]+(ed|sent|won|lost|sold)")
"""Names of counts: `emails_opened`."""

_LASTS = re.compile(
    r"(.*_)?(response|resolution|reply|wait|waiting|handling|travel|cook|cooking|prep|preparation|processing|lead|load|run"
    r"|execution|cycle|idle|delivery)_time"
)
"""Names of times that pass."""

_MINUTES: Record = {"type": "integer", "minimum": 4, "maximum": 240, "description": "in minutes"}
_COUNT: Record = {"type": "integer", "minimum": 0, "maximum": 240}
_LONGEST = 2  # the nouns in record_kinds.json have at most two words
_WORDS = re.compile(r"[a-z]+")
_MOST_READ = 1000  # what a tool is about is said first; later words are about errors and formats


@cache
def _data() -> dict[str, Any]:
    return json.loads(get_data("mcp_sim.types.record_kinds", "record_kinds.json") or b"")


@cache
def _kinds() -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the fields of each kind, by noun, and whether it is an attribute of something else."""
    kinds = [kind for kind in _data()["kinds"] if "beside" not in kind]
    return {noun: (tuple(kind["fields"]), "attribute" in kind) for kind in kinds for noun in kind["nouns"]}


def _fields_beside(noun: str, about: Container[str]) -> tuple[str, ...]:
    """Return the fields of a kind that has another meaning beside one of the words `about` it: the jobs of a build."""
    kinds = (kind for kind in _data()["kinds"] if "beside" in kind and noun in kind["nouns"])
    return next((tuple(kind["fields"]) for kind in kinds if any(word in about for word in kind["beside"])), ())


@cache
def _nouns_beside() -> frozenset[str]:
    return frozenset(noun for kind in _data()["kinds"] if "beside" in kind for noun in kind["nouns"])


@cache
def _fields_of_verbs() -> dict[str, tuple[str, ...]]:
    return {verb: tuple(item["fields"]) for item in _data()["verbs"] for verb in item["verbs"]}


def kind_fields(parts: Sequence[str], about: Container[str] = ()) -> tuple[str, ...]:
    """Return the usual fields of what a name is about: its last known noun, and for attributes the one before.

    `about` are the words of the description.
    """
    names: list[str] = []
    if len(parts) > 1 and parts[-1] in _data()["aspects"] and any(_known_nouns(parts[:-1])):
        parts = parts[:-1]
    for noun in _known_nouns(parts):
        fields, is_attribute = _kinds().get(noun, ((), False))
        fields = _fields_beside(noun, about) or fields
        names = [*fields, *names]
        if not is_attribute:
            break
    return tuple(dict.fromkeys(names))


def _known_nouns(parts: Sequence[str]) -> Iterator[str]:
    """Yield the nouns of a name whose kind is known, the last first."""
    end = len(parts)
    while end > 0:
        starts = range(max(0, end - _LONGEST), end)
        lasts = (parts[end - 1], singular(parts[end - 1]))
        spans = ("_".join((*parts[start : end - 1], last)) for start in starts for last in lasts)
        noun = next((span for span in spans if span in _kinds() or span in _nouns_beside()), None)
        if noun is not None:
            yield noun
        end -= 1 if noun is None else noun.count("_") + 1


def verb_fields(verb: str) -> tuple[str, ...]:
    """Return the usual fields of what a verb computes or looks up; empty for other verbs."""
    return _fields_of_verbs().get(verb, ())


def described_fields(description: str) -> tuple[str, ...]:
    """Return the fields that a description lists: `Returns the temperature, humidity and wind speed.`"""
    for match in _LISTED.finditer(description):
        names = [*_listed_names(_SHARED.sub(r"\1 \3, \2 \3", match[1].lower()))]
        if len(names) > 1:
            return tuple(dict.fromkeys(names))
    return ()


def _listed_names(text: str) -> Iterator[str]:
    """Yield the names in a list, up to the first part that is not a name."""
    for piece in re.split(r",\s*(?:and\s+|or\s+)?|\s+and\s+|\s*&\s*|\s+plus\s+", _BEGIN.sub("", text)):
        bare = _ARTICLES.sub("", _END.split(piece)[0].strip(" \"'`*-"))
        if _NAME.fullmatch(bare) and bare not in _data()["forms"] and not bare.startswith("not "):
            yield snake(re.sub(r"[ -]", "_", bare.removesuffix(" etc")))
        if _END.search(piece):
            return


def field_schema(name: str) -> Record:
    """Return a schema of the usual values of a field, by its name."""
    if _FLAG.fullmatch(name) and name not in _data()["fields"]:
        return {"type": "boolean"}
    if _LASTS.fullmatch(name):
        return _MINUTES
    return _listed_schema(name) or _schema_by_form(name)


def _listed_schema(name: str) -> Record | None:
    """Return the schema that is listed for a field or for the last word of its name."""
    known, last = _data()["fields"], name.rsplit("_", 1)[-1]
    parts = (noun for noun in (singular(last), last) if noun not in _data()["exact"])
    return next((known[noun] for noun in (name, *parts) if noun in known), None)


def _schema_by_form(name: str) -> Record:
    """Return the schema of a field that is not listed: a count, a number, a time, a list or a text."""
    last = name.rsplit("_", 1)[-1]
    if _COUNTED.fullmatch(name) and is_plural(name.partition("_")[0]):
        return _COUNT
    for kind, lasts in (("integer", "counts"), ("number", "numbers")):
        if not {last, singular(last)}.isdisjoint(_data()[lasts]):
            return {"type": kind}
    if _TIMED.fullmatch(name):
        return {"type": "string", "format": "date-time"}
    if is_plural(last) and last not in _data()["texts"]:
        return {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 4}
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


def kind_of_result(parts: Sequence[str], description: str) -> tuple[str, ...]:
    """Return the usual fields of what a tool returns, by its name; if that is vague, by its description as well.

    `get_recommendations` returns tracks if its description says so.
    """
    match = _OBJECT.match(description) if parts and singular(parts[-1]) in _data()["vague"] else None
    described = words(snake(match[1].replace(" ", "_"))) if match is not None else ()
    about = frozenset(_WORDS.findall(description[:_MOST_READ].lower()))
    precise = [noun for noun in described if singular(noun) not in _data()["vague"]]
    return kind_fields(precise, about) or kind_fields(parts, about)


def usual_fields(name: str, description: str) -> dict[str, Record]:
    """Return the fields of the result of a tool: those that its description lists, else those of its kind.

    A list without a name or title takes that of the kind.
    """
    listed, kind = described_fields(description), kind_of_result(words(name), description)
    total = next((field for field in kind if field.startswith("total")), "total")
    listed = tuple(total if field == "totals" else field for field in listed)
    names = [] if not _NAMES.isdisjoint(listed) else [field for field in kind if field in _NAMES]
    schemas = schemas_of((*names, *listed) if listed else kind)
    is_sum = not set(_data()["sums"]).isdisjoint(words(name))
    return {
        name: _COUNT if is_sum and schema.get("items") == {"type": "string"} else schema
        for name, schema in schemas.items()
    }


def precise_noun(entity: str, fields: Iterable[str]) -> str:
    """Return the noun of a kind of record; for one with a vague name, that of the kind with the same fields."""
    if singular(entity.rsplit("_", 1)[-1]) not in _data()["vague"]:
        return entity
    known = frozenset(fields)
    kinds = (kind for kind in _data()["kinds"] if len(kind["fields"]) > _LONGEST and known.issuperset(kind["fields"]))
    return next((kind["nouns"][0] for kind in kinds), entity)
