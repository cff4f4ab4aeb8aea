"""Induce what a server requires of arguments beyond its inputSchema, from calls that it refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.failures import own_template
from mcp_sim.recordings.learning.samples import Sample, parsed_text
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical

_QUOTED = re.compile(r"""(?<!\w)(['"`])(\w[\w .-]{0,30})\1(?!\w|\s*:)""")
_BETWEEN = re.compile(r"\s*[,;/|]\s*(?:or |and )?|\s+(?:or|and)\s+")
"""What is between the words of a list."""
_LISTED = re.compile(r"(?:\bof|\bare|\bis|:)\s*[\[(]?((?:[\w-]+,\s*(?:or |and )?){1,60}(?:or |and )?[\w-]+)")
_WORD = r"(?!(?:not|got|but|instead)\b)[\w-]+"
_PHRASE = rf"{_WORD}(?: {_WORD}){{0,4}}"
_END = r"(?=\s*(?:[;)\]\n]|\.?$|\.\s|,? (?:not|got|but|instead)\b))"
_PHRASES = re.compile(rf"\b(?:one|any) of:?\s*[\[(]?({_PHRASE}(?:,\s*{_PHRASE}){{1,20}}){_END}")
"""A list of values that may have spaces. What is after the last one shows where it ends."""
_NUMBERS = re.compile(
    r"\b(?:one|any) of:?\s*[\[(]?(-?\d{1,15}(?:,\s*(?:or |and )?-?\d{1,15}){1,40})(?![\w.]*\d|,\s*(?:or |and )?-?\d)"
)
_ALTERNATIVES = re.compile(r"(?<![\w.,-])(?<!, )(-?\d{1,15}(?:,\s*-?\d{1,15}){1,40},? or -?\d{1,15})(?![\w.]*\d)")
"""Numbers in a list that ends with `or`."""
_RANGE = re.compile(
    r"\b(?:between|be|be from|range|range from|range of) (-?\d{1,15})(?: and | to |\.\.|-)(-?\d{1,15})(?![\w.-]*\d)",
    re.IGNORECASE,
)
_LEAST = re.compile(r"(?:at least|minimum(?: of)?|>=|no less than)\s*(\d{1,15})(?!\d)", re.IGNORECASE)
_MOST = re.compile(r"(?:at most|maximum(?: of)?|<=|no more than|up to)\s*(\d{1,15})(?!\d)", re.IGNORECASE)
_POSITIVE = re.compile(r"\bpositive\b|greater than (?:0|zero)\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"\b(empty|blank|missing|required?|requires|needs?|provided?|given|specif\w+|at least)\b", re.IGNORECASE
)
_FEWEST = 2
"""The number of words from which on a failure lists the values that are valid."""


@frozen
class _Refusal:
    """An argument of a call that failed, and what the failure says."""

    name: str
    value: Json
    arguments: Record
    text: str
    described: str
    """The descriptions of the argument and the tool."""
    may_be_null: bool

    def is_mentioned(self) -> bool:
        """Whether the failure shows the value or the name."""
        return any(_shows(self.text, words) for words in (str(self.value), self.name))

    def is_for_emptiness(self) -> bool:
        """Whether the failure is about this empty value: it shows the name, or no name and no other value is empty."""
        named = [name for name in self.arguments if _shows(self.text, name)]
        empty = [value for value in self.arguments.values() if value in ("", [])]
        return self.name in named or (not named and len(empty) == 1 and bool(_EMPTY.search(self.text)))


def _shows(text: str, words: str) -> bool:
    return re.search(rf"(?i)(?<!\w){re.escape(words).replace('_', '[_ ]')}(?!\w)", text) is not None


def induce_checks(samples: Sequence[Sample], tools: Mapping[str, Record]) -> dict[str, Record]:
    """Return the checks of arguments by tool, as specs declare them."""
    found: dict[str, Record] = {}
    for tool, definition in tools.items():
        own = [sample for sample in samples if sample.tool == tool]
        accepted = [sample for sample in own if not sample.recorded.failed]
        for sample in own:
            for name, schema in _checks(sample, accepted, definition) if sample.recorded.failed else ():
                check: Record = {"schema": schema, "error": own_template(sample)}
                found.setdefault(tool, {}).setdefault(name, check)
    return found


def _checks(failed: Sample, accepted: Sequence[Sample], definition: Record) -> Iterator[tuple[str, Record]]:
    """Yield the arguments that a call may have been refused for, each with the schema that its value violates."""
    schemas = properties(expanded(as_object(definition.get("inputSchema"))))
    text = _text(failed.recorded.value)
    for name, value in failed.arguments.items():
        if name in schemas and _is_valid(schemas[name], value):
            taken = [one.arguments[name] for one in accepted if name in one.arguments]
            described = f"{schemas[name].get('description', '')} {definition.get('description', '')}"
            refused = _Refusal(name, value, failed.arguments, text, described, _is_valid(schemas[name], None))
            schema = next((one for one in _schemas(refused) if _separates(one, value, taken)), None)
            if schema is not None:
                yield name, schema


def _is_valid(schema: Record, value: Json) -> bool:
    """Whether a value is valid; not if the schema is none."""
    try:
        return Validator(schema).is_valid(value)
    except ValueError:
        return False


def _separates(schema: Record, value: Json, taken: Sequence[Json]) -> bool:
    """Whether a refused value violates a schema, and the values of other calls do not.

    Words in a failure are the valid values only if a call with one of them succeeded: others are states and the like.
    """
    if "enum" in schema and all(other is None for other in taken):
        return False
    validator = Validator(schema)
    return not validator.is_valid(value) and all(validator.is_valid(other) for other in taken)


def _text(value: Json) -> str:
    """Return what a failure says, with a line for each text in it. A list of words is one line, in quotes."""
    parsed = parsed_text(value) if isinstance(value, str) else value
    if isinstance(parsed, dict):
        return "\n".join(f"{name}: {_text(part)}" for name, part in cast("Record", parsed).items())
    if isinstance(parsed, list):
        parts = cast("list[Json]", parsed)
        are_words = all(isinstance(part, str) for part in parts)
        return ", ".join(f"'{part}'" for part in parts) if are_words else "\n".join(map(_text, parts))
    return parsed if isinstance(parsed, str) else canonical(parsed)


def _schemas(refused: _Refusal) -> Iterator[Record]:
    """Yield what a server may require that refused a value with some text."""
    value, text = refused.value, refused.text
    if isinstance(value, str):
        yield from _of_text(refused, value)
    elif isinstance(value, list) and not value and refused.is_for_emptiness():
        yield {"minItems": 1}
    elif isinstance(value, int | float) and not isinstance(value, bool) and refused.is_mentioned():
        yield from _of_number(refused)
        yield from ({"minimum": int(least)} for least in _LEAST.findall(text))
        yield from ({"maximum": int(most)} for most in _MOST.findall(text))
        yield from [{"exclusiveMinimum": 0}] if _POSITIVE.search(text) else []


def _of_number(refused: _Refusal) -> Iterator[Record]:
    """Yield the numbers that a failure lists as valid, and ranges that it names."""
    for listed in (*_NUMBERS.findall(refused.text), *_ALTERNATIVES.findall(refused.text)):
        numbers: list[Json] = [int(one) for one in re.findall(r"-?\d+", listed)]
        if not is_id(refused.name, refused.value):
            yield {"enum": [*numbers, None] if refused.may_be_null else numbers}
    both = zip(_LEAST.findall(refused.text), _MOST.findall(refused.text), strict=False)
    for low, high in (*_RANGE.findall(refused.text), *both):
        if int(low) < int(high):
            yield {"minimum": int(low), "maximum": int(high)}


def _of_text(refused: _Refusal, value: str) -> Iterator[Record]:
    if not value.strip():
        yield from [{"pattern": r"\S"}] if refused.is_for_emptiness() else []
    elif not is_id(refused.name, value) and refused.is_mentioned():
        yield from ({"minLength": int(least)} for least in _LEAST.findall(refused.text))
        others = {value, *(other for other in refused.arguments.values() if isinstance(other, str))}
        described = _described(refused.described) if value in refused.text else []
        for listed in (_listed(refused.text), described):
            words = [word for word in listed if word not in others]
            if len(words) >= _FEWEST:
                yield {"enum": [*words, None] if refused.may_be_null else words}


def _described(text: str) -> list[str]:
    """Return the words that a description lists, else those in quotes."""
    listed = _listed(text)
    return listed if len(listed) >= _FEWEST else [*dict.fromkeys(one[2] for one in _QUOTED.finditer(text))]


def _listed(text: str) -> list[str]:
    """Return the values of the longest list in a text: in quotes, else separated by commas."""
    found = list(_QUOTED.finditer(text))
    lists = [[one[2] for one in found[:1]]]
    for before, one in pairwise(found):
        if _BETWEEN.fullmatch(text, before.end(), one.start()):
            lists[-1].append(one[2])
        else:
            lists.append([one[2]])
    named = _PHRASES.findall(text) or _LISTED.findall(text)
    plain = [re.split(r",\s*(?:or |and )?|\s+(?:or|and)\s+", one) for one in named]
    quoted = max(lists, key=len)
    longest = quoted if len(quoted) >= _FEWEST else max(plain, key=len, default=list[str]())
    return [*dict.fromkeys(filter(None, longest))]
