"""States and flags that a tool requires or sets, as names and descriptions say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.infer.descriptions import choices_of, nearest_choice
from mcp_sim.infer.envelopes import find_envelope
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.flags import find_flag, find_switch, participle_of, regular_participles
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import constants, items, main_type, properties, property_of
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.plans import RECORDLESS, Plan, Swap

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
_MUST = re.compile(r"\b(\w+) must be ([^.;:\n]{1,80})", re.IGNORECASE)
_FORBIDDEN = re.compile(r"\b(\w+) (\w+) (?:cannot|can't|can not|may not|must not) be\b", re.IGNORECASE)
_UNDOES = re.compile(r"\W*\w+ (?:an?|the) (?:currently |already )?(\w+) (\w+)\b", re.IGNORECASE)
_OR = re.compile(r"\s*(?:,|/|\bor\b|\bto\b.*|\bbefore\b.*)\s*")
_HALTED_STATES = frozenset({"frozen", "blocked", "banned", "locked"})
"""States of halted things, even if no record has such a state yet."""

_BALANCES = (("balance",), ("holdings",))
_ACCOUNTS = (("account",), ("wallet",))
IN_USE = ("active", "open", "enabled")
"""States of things in use."""

_CREATED_STATES = {"send": ("sent",), "write": ("written",), "draw": ("drawn",)}


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


def find_required_states(about: str, entity: Entity, states: Mapping[str, None]) -> tuple[str, ...]:
    """Return the states in `Status must be Paid or Ready to Ship`, `The order must be paid`."""
    found = next((hit for hit in _MUST.finditer(about) if _refers_to(hit[1], entity)), None)
    names = [snake(part.strip(" \"'`")) for part in _OR.split(found[2])] if found is not None else []
    by_name = {snake(state): state for state in states}
    if not any(name in by_name for name in names):
        return ()
    return tuple(by_name.get(name) or spell_state(name, [*states]) for name in names if name)


def _refers_to(noun: str, entity: Entity) -> bool:
    return snake(noun) in {*_STATUS, entity.name.rsplit("_", 1)[-1]}


def find_required_flags(about: str, entity: Entity) -> dict[str, tuple[Json, ...]]:
    """Return the flags in `A sealed box cannot be opened`, `Unseal a sealed box`."""
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    undone, barred = _UNDOES.match(about), _FORBIDDEN.finditer(about)
    hits = [(hit, False) for hit in barred] + ([(undone, True)] if undone is not None else [])
    mine = [(flags.get(snake(hit[1])), yes) for hit, yes in hits if singular(hit[2].lower()) in entity.name.split("_")]
    return {flag: (yes,) for flag, yes in mine if flag is not None}


def find_described_updates(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Return the features. A tool whose description sets the state of a named record updates it."""
    return [_as_update(features, declared) for features in feature_list]


def _as_update(features: ToolFeatures, declared: Mapping[str, Entity]) -> ToolFeatures:
    if features.singleton is not None or features.entity in declared or features.verb not in RECORDLESS | {"create"}:
        return features
    for hit in _SET_TO.finditer(features.tool.description):
        one = declared.get(snake(hit[1] or ""))
        if one is None or one.singleton or find_status_field(one) is None or not _is_state(hit[2], []):
            continue
        if key_argument("update", one.name, one.key, features.input)[1] >= 2:
            return replace(
                features,
                verb="update",
                entity=one.name,
                envelope=find_envelope("update", one.name, features.output, text=features.envelope.text),
            )
    return features


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


def find_similar_state(plan: Plan, word: str, others: Iterable[tuple[str, Plan]]) -> dict[str, Json]:
    """Return the state that similar tools imply: `exchange requested`, if a return leads to `return requested`.

    `others` are pairs of the verb's word and the plan.
    """
    for other, one in others:
        for field, value in one.fixed.items():
            is_similar = one.entity == plan.entity and one.requires == plan.requires and plan.requires
            if is_similar and other != word and isinstance(value, str) and other in snake(value).split("_"):
                return {field: value.replace(other, word)}
    return {}


def find_swap(arguments: Mapping[str, Record], entity: Entity, entities: Mapping[str, Entity]) -> Swap | None:
    """Find `item_ids` and `new_item_ids`, if the record has a list of parts with an `item_id`."""
    lists = {snake(name): name for name, part in arguments.items() if main_type(part) == "array"}
    for old, argument in lists.items():
        stem = old.removesuffix("s").removesuffix("_id")
        if f"new_{old}" not in lists or stem not in entities:
            continue
        for name, field in entity.fields.items():
            inner = properties(items(field.schema)) if main_type(field.schema) == "array" else {}
            key = next((part for part in inner if snake(part) == f"{stem}_id"), None)
            if key is not None:
                return Swap(name, key, argument, lists[f"new_{old}"], stem)
    return None


def find_requirements(
    parsed: ParsedName, entity: Entity, about: str, fixed: Mapping[str, Json], rows: Sequence[Record]
) -> dict[str, tuple[Json, ...]]:
    """Return the required states of a record, by name and description: `cancel_pending_order`."""
    field, flags = (
        find_status_field(entity),
        {**_required_flags(entity, about, fixed), **_empty_account(parsed, entity)},
    )
    if field is None:
        return flags
    states = known_states(field, entity, rows)
    required = find_required_states(about, entity, states)
    if required:
        return {**flags, field: required}
    named = [word for word in parsed.noun if word in {snake(state) for state in states}]
    if not named:
        return flags
    exact = [state for state in states if snake(state) in named]
    wider = [state for state in states if {*snake(state).split("_")} & {*named}]
    return {**flags, field: tuple(exact if fixed else [*dict.fromkeys([*exact, *wider])])}


def _empty_account(parsed: ParsedName, entity: Entity) -> dict[str, tuple[Json, ...]]:
    """Require an empty balance to close an account."""
    held = next((name for name in entity.fields if words(name)[-1:] in _BALANCES), None)
    if parsed.word != "close" or held is None or words(entity.name)[-1:] not in _ACCOUNTS:
        return {}
    return {held: ("0.00", "0", "0.0", "$0.00") if main_type(entity.fields[held].schema) == "string" else (0,)}


def _required_flags(entity: Entity, about: str, fixed: Mapping[str, Json]) -> dict[str, tuple[Json, ...]]:
    """Return the required flags. What is locked is not locked again."""
    halting = {name: (False,) for name, value in fixed.items() if value is True and snake(name) in _HALTED_STATES}
    described = find_required_flags(about, entity)
    undone = {name: needed for name, needed in described.items() if fixed.get(name) is False or needed == (False,)}
    return {**halting, **undone}


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


def find_created_state(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the state of a new record by its verb: `sent` of `send`, if records have such a state."""
    name, word = find_status_field(entity), features.parsed.word
    if name is None or not word:
        return {}
    shown = choices_of(property_of(features.shape, name))
    states = {snake(str(one)): one for one in (*known_states(name, entity, rows), *shown)}
    found = next(
        (states[one] for one in (*_CREATED_STATES.get(word, ()), *regular_participles(word)) if one in states), None
    )
    return {name: found} if found is not None else {}


def _participle_state(word: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the state of `freeze` or `unfreeze`, if records may be `frozen` and `active`.

    What is in use may be halted.
    """
    name, (participle, yes) = find_status_field(entity), participle_of(word)
    if name is None or not participle:
        return {}
    held = [row[name] for row in rows if isinstance(row.get(name), str)]
    states = {snake(str(one)): one for one in (*held, *choices_of(entity.fields[name].schema))}
    halts = participle in _HALTED_STATES and any(state in states for state in IN_USE)
    if yes and halts:
        return {name: spell_state(participle, [*states.values()])}
    wanted = [participle] if yes else [state for state in IN_USE if participle in states or halts]
    found = next((states[state] for state in wanted if state in states), None)
    return {name: found} if found is not None else {}
