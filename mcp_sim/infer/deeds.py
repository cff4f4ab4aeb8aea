"""Which tools touch no records: they compute, control a device, go somewhere, or only look at their arguments?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.translations import verb_in_english
from mcp_sim.types.lexicon.words import vocabulary, words

DEEDS = vocabulary(
    "press click hover drag type scroll tap swipe focus wait sleep resize zoom navigate go jump walk look turn rotate "
    "dial reboot restart reload refresh step next continue undo redo capture snapshot screenshot take grab connect "
    "disconnect attach detach ping handshake calculate compute evaluate multiply divide subtract scale transpose "
    "invert project plot draw visualize visualise render convert transform translate parse format compile decompile "
    "disassemble encode decode encrypt decrypt hash compress decompress estimate predict forecast analyze analyse "
    "compare classify simulate perform execute run exec call invoke handle process play serve test explain examine "
    "debug speak say listen print select choose solve decompose think reason ask answer suggest recommend optimize "
    "optimise round sum count average interact stop shutdown trigger"
)
"""Verbs that are done to no record."""

_VAGUE = vocabulary("perform execute run exec call invoke handle process trigger")
"""Verbs that may be done to anything."""

_NOUNS_TOO = vocabulary(
    "project type format count call process run plot test answer sum round step look walk play hash scale draw handle "
    "focus reason estimate forecast trigger average print turn next stop"
)

MAKING = vocabulary(
    "generate initialize initialise init setup provision launch spawn install import clone produce build deploy issue "
    "enqueue ingest define declare copy duplicate replicate"
)
"""Verbs that make a record, where other tools speak of such records."""

LOOKING = vocabulary(
    "check validate preview export download track monitor summarize summarise analyze analyse examine render play "
    "compare verify visualize visualise"
)
"""Verbs that look at a record, where other tools speak of such records."""

_OPENERS = re.compile(
    r"(?:use this (?:\w+ )?to|this (?:\w+ )?(?:is used to|allows you to|lets you|can be used to|will|tool|function|"
    r"method|endpoint)|(?:a |the )?(?:tool|function) (?:to|for|that)|allows? (?:you|users?|the user) to|lets you|"
    r"used to|useful (?:for|to)|to|please|\w+ly)\s+",
    re.IGNORECASE,
)
_LONGEST = 200
"""So many characters of a description are looked at for the verb that it begins with."""


def deed_named(parts: Sequence[str], said: str) -> str:
    """The verb of no record that a name begins or ends with; at its end it may be a thing: `init_project`."""
    if not parts:
        return ""
    if parts[0] in DEEDS:
        return parts[0]
    is_verb = parts[-1] in DEEDS and (parts[-1] not in _NOUNS_TOO or parts[-1] == said)
    return parts[-1] if is_verb else ""


def is_verb(word: str) -> bool:
    """Is it known as one, of records or of anything else?"""
    return word in _KNOWN and word not in _NOUNS_TOO


def verb_said(about: str) -> str:
    """The verb that a description begins with, in its plain form: `Retrieves all notes` begins with `retrieve`."""
    first = next(iter(words(first_words(about).partition(" ")[0])), "")
    known = next((form for form in _plain_forms(first) if form in _KNOWN), None)
    return known or verb_in_english(first) or first


def first_words(about: str) -> str:
    """The beginning of a description, from its verb on."""
    text = about[:_LONGEST].strip()
    while found := _OPENERS.match(text):
        text = text[found.end() :]
    return text


def touching_nothing(name: str, deed: str, tool: Tool, *, is_spoken_of: bool) -> tuple[float, tuple[str, ...]]:
    """How sure it is that a tool touches no records, and why. `deed`: the verb of its name that is of none.

    `is_spoken_of`: other tools have to do with what its name or its arguments speak of.
    """
    weights = [*_for_nothing(name, deed, tool), *_against_nothing(tool, is_spoken_of=is_spoken_of)]
    total = sum(weight for weight, _ in weights)
    return round(min(0.95, max(0.05, total)), 2), tuple(reason for _, reason in weights)


def _for_nothing(name: str, deed: str, tool: Tool) -> Iterator[tuple[float, str]]:
    yield 0.35, "no verb of records in the name" if deed or not name else f"'{name}' names no record"
    said = verb_said(tool.description)
    if deed:
        yield (0.1 if deed in _VAGUE else 0.2), f"'{deed}' is done to no record"
    if said in DEEDS | LOOKING:
        yield (0.05 if said in _VAGUE else 0.15 if deed else 0.2), f"its description begins with '{said}'"
    if not properties(tool.input_schema):
        yield 0.05, "it takes nothing"


def _against_nothing(tool: Tool, *, is_spoken_of: bool) -> Iterator[tuple[float, str]]:
    if is_spoken_of:
        yield -0.1, "other tools work on what it speaks of"
    else:
        yield 0.1, "no other tool works on what it speaks of"
    if tool.annotations.get("destructiveHint") is True:
        yield -0.3, "said to destroy something"
    elif tool.annotations.get("readOnlyHint") is True:
        yield 0.05, "read-only"


def _plain_forms(word: str) -> Iterator[str]:
    """The forms of which `creates`, `copies`, `pushes`, `getting` or `creating` may be one."""
    yield word
    if word.endswith("s"):
        yield from (word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    if word.endswith("ing"):
        stem = word.removesuffix("ing")
        yield from (stem, f"{stem}e", stem[:-1])


_KNOWN = (
    DEEDS
    | MAKING
    | LOOKING
    | vocabulary(
        "create add new insert register log get read fetch show retrieve describe view list enumerate "
        "browse search find query filter update edit modify patch change delete remove destroy return "
        "provide obtain pull give display load look lookup set rename replace save store write send post "
        "upload close open cancel append move copy archive assign approve reject complete submit book "
        "schedule clear reset toggle"
    )
)
