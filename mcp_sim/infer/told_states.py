"""Which states does a description tell of: the one that a tool leads to, and those from which alone it does?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.infer.choices import choices_of
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.infer.outputs import envelope_meant
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import singular, snake
from mcp_sim.types.plans import RECORDLESS

_STATUS = ("status", "state", "stage")
_LOOKED_AT = 2_000
_QUOTED = re.compile(
    r"(?:status|state|stage)\b[^.'\"]{0,40}?\b(?:to|becomes|as|is)\s+[\"'`]([^\"'`]{1,40})[\"'`]", re.IGNORECASE
)
_SETS = re.compile(
    r"\b(?:[Ss]et|[Cc]hange|[Uu]pdate|[Mm]ark|[Mm]ove)(?:s|d|ing)? (?:the )?(?:(\w+?)(?:'s)? )?(?:status|state|stage) "
    r"(?:to|as) [\"'`]?([A-Za-z][\w-]*(?: [A-Z]\w*)*)"
)
_TURNS = re.compile(
    r"\b(?:[Ss]et|[Mm]ark|[Mm]ove|[Rr]eturn)(?:s|ing)? (?:the |an? )?(\w+) (?:back )?(?:to|as) [\"'`]?([A-Za-z]\w*)"
)
_MUST = re.compile(r"\b(\w+) must be ([^.;:\n]{1,80})", re.IGNORECASE)
_BARRED = re.compile(r"\b(\w+) (\w+) (?:cannot|can't|can not|may not|must not) be\b", re.IGNORECASE)
_UNDOES = re.compile(r"\W*\w+ (?:an?|the) (?:currently |already )?(\w+) (\w+)\b", re.IGNORECASE)
_OR = re.compile(r"\s*(?:,|/|\bor\b|\bto\b.*|\bbefore\b.*)\s*")


def status_field(entity: Entity) -> str | None:
    """The field that tells in which state a record is."""
    return next((name for name in entity.fields if snake(name) in _STATUS), None)


def known_states(field: str, entity: Entity, rows: Sequence[Record]) -> dict[str, None]:
    """The states that there are, by the field's choices and the first of the records that are given."""
    states = dict.fromkeys([str(one) for one in choices_of(entity.fields[field].schema)])
    looked_at = islice(rows, _LOOKED_AT)
    return states | dict.fromkeys(str(row[field]) for row in looked_at if isinstance(row.get(field), str))


def stated(about: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """`The order status will be changed to 'return requested'`, `Sets order status to RETURNED`, `Mark it as done`."""
    field, quoted = status_field(entity), _QUOTED.search(about)
    if field is None:
        return {}
    if quoted is not None:
        return {field: quoted[1]}
    known = [*known_states(field, entity, rows)]
    found = next((hit for hit in _SETS.finditer(about) if _is_of(hit[1], entity.name)), None)
    if found is not None and _is_state(found[2], known):
        return {field: spelt(snake(found[2]), known)}
    turned = next((hit for hit in _TURNS.finditer(about) if singular(hit[1].lower()) == entity.name), None)
    is_known = turned is not None and snake(turned[2]) in map(snake, known)
    return {field: spelt(snake(turned[2]), known)} if turned is not None and is_known else {}


def states_needed(about: str, entity: Entity, states: Mapping[str, None]) -> tuple[str, ...]:
    """`Status must be Paid or Ready to Ship`, `The order must be paid`: the states from which alone a tool works."""
    found = next((hit for hit in _MUST.finditer(about) if _is_of_it(hit[1], entity)), None)
    names = [snake(part.strip(" \"'`")) for part in _OR.split(found[2])] if found is not None else []
    by_name = {snake(state): state for state in states}
    if not any(name in by_name for name in names):
        return ()
    return tuple(by_name.get(name) or spelt(name, [*states]) for name in names if name)


def _is_of_it(noun: str, entity: Entity) -> bool:
    return snake(noun) in {*_STATUS, entity.name.rsplit("_", 1)[-1]}


def flags_needed(about: str, entity: Entity) -> dict[str, tuple[Json, ...]]:
    """`A sealed box cannot be opened`, `Unseal a sealed box`: what a flag must say of a record."""
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    undone, barred = _UNDOES.match(about), _BARRED.finditer(about)
    told = [(hit, False) for hit in barred] + ([(undone, True)] if undone is not None else [])
    mine = [(flags.get(snake(hit[1])), yes) for hit, yes in told if singular(hit[2].lower()) in entity.name.split("_")]
    return {flag: (yes,) for flag, yes in mine if flag is not None}


def with_told_states(looks: Sequence[Look], declared: Mapping[str, Entity]) -> list[Look]:
    """The looks; a tool that is said to set the state of a record that it names updates it, whatever its name."""
    return [_setting(look, declared) for look in looks]


def _setting(look: Look, declared: Mapping[str, Entity]) -> Look:
    if look.single is not None or look.entity in declared or look.verb not in RECORDLESS | {"create"}:
        return look
    for hit in _SETS.finditer(look.tool.description):
        one = declared.get(snake(hit[1] or ""))
        if one is None or one.singleton or status_field(one) is None or not _is_state(hit[2], []):
            continue
        if key_argument("update", one.name, one.key, look.input)[1] >= 2:
            return replace(
                look,
                verb="update",
                entity=one.name,
                envelope=envelope_meant("update", one.name, look.output, text=look.envelope.text),
            )
    return look


def _is_of(noun: str | None, entity: str) -> bool:
    return noun is None or singular(noun.lower()) in {"the", "its", "their", *entity.split("_")}


def _is_state(word: str, known: Sequence[str]) -> bool:
    """Is a word a state, and not the beginning of another phrase (`to the one that is given`)?"""
    return snake(word) in map(snake, known) or word[:1].isupper() or "_" in word


def spelt(status: str, others: Sequence[Json]) -> str:
    """A state as the others are spelt: `Closed` beside `Open`; the one among them, where it is one."""
    there = next((str(one) for one in others if snake(str(one)) == status), None)
    if there is not None:
        return there
    texts = [str(one) for one in others]
    if texts and all(text.isupper() for text in texts):
        return status.upper()
    is_titled = bool(texts) and all(text[:1].isupper() for text in texts)
    spaced = any(" " in text for text in texts) or (is_titled and not any("_" in text for text in texts))
    text = status.replace("_", " ") if spaced else status
    return " ".join(word.capitalize() for word in text.split(" ")) if is_titled else text
