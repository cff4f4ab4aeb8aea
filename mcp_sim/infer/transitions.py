"""States and flags that a tool sets, as names and descriptions say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from mcp_sim.infer.descriptions import choices_of, nearest_choice
from mcp_sim.infer.flags import find_flag, find_switch, participle_of
from mcp_sim.infer.names import ParsedName
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import constants
from mcp_sim.types.lexicon.english import singular, snake

_STATUS = ("status", "state", "stage")
_SAMPLE_SIZE = 2_000
_QUOTED = re.compile(
    r"(?:status|state|stage)\b[^.'\"]{0,40}?\b(?:to|becomes|as|is)\s+[\"'`]([^\"'`]{1,40})[\"'`]", re.IGNORECASE
)
_SET_TO = re.compile(
    r"\b(?:[Ss]et|[Cc]hange|[Uu]pdate|[Mm]ark|[Mm]ove)(?:s|d|ing)? (?:the )?(?:(\w+?)(?:'s)? )?(?:status|state|stage) "
    r"(?:to|as) [\"'`]?([A-Za-z][\w-]*(?: [A-Z]\w*)*)"
)
_MARK_AS = re.compile(
    r"\b(?:[Ss]et|[Mm]ark|[Mm]ove|[Rr]eturn)(?:s|ing)? (?:the |an? )?(\w+) (?:back )?(?:to|as) [\"'`]?([A-Za-z]\w*)"
)
_HALTED_STATES = frozenset({"frozen", "blocked", "banned", "locked"})
"""States of halted things, even if no record has such a state yet."""

_IN_USE = ("active", "open", "enabled")
"""States of things in use."""


def find_status_field(entity: Entity) -> str | None:
    """Return the state field of an entity."""
    return next((name for name in entity.fields if snake(name) in _STATUS), None)


def known_states(field: str, entity: Entity, rows: Sequence[Record]) -> dict[str, None]:
    """Return the choices of the field, and the values of the first given records."""
    states = dict.fromkeys([str(one) for one in choices_of(entity.fields[field].schema)])
    looked_at = islice(rows, _SAMPLE_SIZE)
    return states | dict.fromkeys(str(row[field]) for row in looked_at if isinstance(row.get(field), str))


def find_described_state(about: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the state in `Sets order status to RETURNED`, `Mark it as done`."""
    field, quoted = find_status_field(entity), _QUOTED.search(about)
    if field is None:
        return {}
    if quoted is not None:
        return {field: quoted[1]}
    known = [*known_states(field, entity, rows)]
    found = next((hit for hit in _SET_TO.finditer(about) if _belongs_to(hit[1], entity.name)), None)
    if found is not None and _is_state(found[2], known):
        return {field: spell_state(snake(found[2]), known)}
    turned = next((hit for hit in _MARK_AS.finditer(about) if singular(hit[1].lower()) == entity.name), None)
    is_known = turned is not None and snake(turned[2]) in map(snake, known)
    return {field: spell_state(snake(turned[2]), known)} if turned is not None and is_known else {}


def _belongs_to(noun: str | None, entity: str) -> bool:
    return noun is None or singular(noun.lower()) in {"the", "its", "their", *entity.split("_")}


def _is_state(word: str, known: Sequence[str]) -> bool:
    """Whether a word is a state, not the beginning of a phrase (`to the one that is given`)."""
    return snake(word) in map(snake, known) or word[:1].isupper() or "_" in word


def spell_state(status: str, others: Sequence[Json]) -> str:
    """Return a state spelled like the others: `Closed` beside `Open`; the one among them, if there is one."""
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


def find_target_state(parsed: ParsedName, entity: Entity, about: str, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the field and value of a verb like `close`, spelled like the other states."""
    described = find_described_state(about, entity, rows) or find_switch(parsed.word, parsed.noun, entity.fields)
    described = described or find_flag(parsed.word, entity)
    if parsed.status is None and not described:
        return _participle_state(parsed.word, entity, rows)
    if parsed.status is None or described:
        return described
    for name, field in entity.fields.items():
        if snake(name) in _STATUS:
            choices = choices_of(field.schema)
            held = dict.fromkeys(str(row[name]) for row in rows if isinstance(row.get(name), str))
            found = nearest_choice(parsed.word, choices) or nearest_choice(parsed.word, [*held])
            if found is None:
                found = next((one for one in [*choices, *held] if snake(str(one)) == parsed.status), None)
            if found is not None:
                return {name: found}
            return {} if constants(field.schema) else {name: spell_state(parsed.status, [*held, *choices])}
    return {}


def _participle_state(word: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the state of `freeze` or `unfreeze`, if records may be `frozen` and `active`.

    What is in use may be halted.
    """
    name, (participle, yes) = find_status_field(entity), participle_of(word)
    if name is None or not participle:
        return {}
    held = [row[name] for row in rows if isinstance(row.get(name), str)]
    states = {snake(str(one)): one for one in (*held, *choices_of(entity.fields[name].schema))}
    halts = participle in _HALTED_STATES and any(state in states for state in _IN_USE)
    if yes and halts:
        return {name: spell_state(participle, [*states.values()])}
    wanted = [participle] if yes else [state for state in _IN_USE if participle in states or halts]
    found = next((states[state] for state in wanted if state in states), None)
    return {name: found} if found is not None else {}
