"""States of records: those that verbs lead to, and the initial values of new records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.plans.infer.features import ToolFeatures
from mcp_sim.plans.infer.filters import narrowing_choices
from mcp_sim.plans.infer.verbs import (
    QUALIFIERS,
    STATES,
    TRANSITIONS,
    VERBS_OF_RECORDS,
    flag_after,
    reversible_state,
)
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.initial_values import are_choices, first_state, first_value, initial_states, is_ended
from mcp_sim.types.json_schema.shapes import (
    as_object,
    at,
    constants,
    is_open,
    items,
    main_type,
    properties,
)
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import is_participle, last_word, participle, snake, words
from mcp_sim.types.lexicon.terms import groups, ordered, table, terms
from mcp_sim.types.plans import How, Plan
from mcp_sim.types.result_schemas import choices_of

_STATES, _INITIAL, _PREVIOUS = terms("fields.state"), ordered("states.initial"), table("states.previous")
_STATES_AFTER, _OPPOSITES, _GROUPS = groups("states.after"), table("verbs.opposites"), terms("fields.groups")
FINAL = frozenset(
    state for verb in terms("verbs.finishing") for state in (TRANSITIONS[verb], *_STATES_AFTER.get(verb, ()))
)
_LATE, _UPCOMING, _TOGGLING = terms("states.late"), terms("states.upcoming"), terms("verbs.toggling")
_DEADLINES, _BEGINNINGS, _CHANGES = terms("fields.deadline"), terms("fields.beginning"), ordered("fields.change_stem")
_AMOUNTS = terms("arguments.amount", "fields.balance", "fields.price", "fields.total")
_OPPOSITE_STATES, _POSITIVE = table("states.opposites"), frozenset({"on", "enabled", "open", "active", "running"})
KNOWN_STATES = {*_OPPOSITE_STATES, *_INITIAL, *FINAL, *TRANSITIONS.values(), *terms("states.ended")}.union(
    *_STATES_AFTER.values()
)
_SAID_FLAG = re.compile(r"\b([a-z]\w*) ?= ?(true|false)\b", re.IGNORECASE)
_CONDITION_ENDS = frozenset(["is", "are", "was", "still", "not", "yet", "unless", "before", "after", "until", "or"])
"""Words before a state that a record is in already, or is not to be in: `a task that is done`."""
_CONDITIONS = re.compile(r"\b(?:that|which|if|when|while|unless|before|after|until|not|with)\b")
_SAID_STATE = re.compile(r"\bas (?:being )?(\w+)")
_MOST_CHOICES = 8  # more words are names
_SAMPLE_SIZE = 200  # a few states repeat; more rows show no others and cost time at start
MAX_ROWS = 2_000  # bounds the start of worlds with many given records


def find_described_state(feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the state field that arguments or verbs like `close` imply, if no schema shows the fields of records."""
    if _are_fields_shown(feature_list):
        return {}
    arguments = [pair for features in feature_list for pair in properties(features.input).items()]
    listed = {name: narrowing_choices(schema) for name, schema in arguments if snake(name) in _STATES}
    several = {name: choices for name, choices in listed.items() if len(choices) > 1}
    states = islice((several or _states_of_verbs(feature_list, arguments)).items(), 1)
    return {name: Field(name, {"type": "string", "enum": choices}, required=True) for name, choices in states}


def _states_of_verbs(
    feature_list: Sequence[ToolFeatures], arguments: Sequence[tuple[str, Record]]
) -> dict[str, list[Json]]:
    """Return the states that verbs lead to, and the one before, unless a flag holds them: `completed: true`."""
    leads = [
        features.parsed.status
        for features in feature_list
        if features.verb == "update" and features.parsed.status is not None
    ]
    flags = {snake(name).removeprefix("is_") for name, schema in arguments if main_type(schema) == "boolean"}
    before = [_PREVIOUS[state] for state in leads if state in _PREVIOUS][:1]
    return {"status": [*dict.fromkeys([*before, *leads])]} if before and not flags & {*leads, "done"} else {}


def _are_fields_shown(feature_list: Sequence[ToolFeatures]) -> bool:
    return any(_shows_fields(features.output) for features in feature_list)


def _shows_fields(schema: Record) -> bool:
    """Whether a result schema shows fields, rather than a text, a mapping or a list of mappings in a wrapper."""
    parts = [*properties(schema).values()]
    inner = parts[0] if len(parts) == 1 else schema
    return main_type(inner) in {"object", "array"} and not is_open(inner) and not is_open(items(inner))


def find_creation_time(feature_list: Sequence[ToolFeatures], fields: Collection[str]) -> dict[str, Field]:
    """Return the creation time, which most services keep, if no schema shows the fields of records."""
    names = [*(name for features in feature_list for name in properties(features.input)), *fields]
    is_made = any(features.verb == "create" for features in feature_list)
    if not is_made or _are_fields_shown(feature_list) or any(snake(name).startswith("creat") for name in names):
        return {}
    name = "createdAt" if any(name != name.lower() for name in names) else "created_at"
    return {name: Field(name, {"type": "string", "format": "date-time"}, required=True)}


def with_initial_value(field: Field, rows: Sequence[Record], mine: Sequence[ToolFeatures], *, is_key: bool) -> Field:
    """Return a field with the default that given records and tools suggest: the first state, 0 renewals, no grade.

    It is guessed if no word of a beginning says so, or if it is that of most records only.
    """
    if "default" in field.schema:
        return field
    values, is_guessed = _initial_states(field, rows, mine) if last_word(field.name) in _STATES else ([], False)
    held = [row[field.name] for row in islice(rows, _SAMPLE_SIZE) if field.name in row]
    if not values and field.required and not is_key:
        is_flag = bool(held) and all(isinstance(value, bool) for value in held)
        values, is_guessed = _initial_flag(field, held, mine) if is_flag else (_usual_values(field, held), False)
    if not values:
        return field if is_key else _like_others(field, held)
    schema = {**field.schema, "default": values[0]}
    if values[0] is None:
        schema |= {"type": [main_type(field.schema), "null"]} if main_type(field.schema) else {}
    return replace(field, schema=schema, default_is_guessed=is_guessed)


def _like_others(field: Field, held: Sequence[Json]) -> Field:
    """Return a text with the few words of given records as examples, which new records then have: `weak`, `strong`."""
    texts = [*dict.fromkeys(value for value in held if isinstance(value, str))]
    is_bound = field.link is not None or field.schema.keys() & {"format", "pattern", "enum", "const"}
    are_few = len(texts) <= _MOST_CHOICES and are_choices(texts)
    is_choice = are_few and not is_bound and main_type(field.schema) == "string"
    return replace(field, schema={**field.schema, "examples": texts}) if is_choice else field


def _initial_states(field: Field, rows: Sequence[Record], mine: Sequence[ToolFeatures]) -> tuple[list[Json], bool]:
    """Return the states of new records among the choices or the given records, and whether they are guessed.

    The only create may lead to one, or a description may name one. No record begins in an end state, nor in one that an
    update leads to.
    """
    if main_type(field.schema) not in {"string", ""}:
        return [], False
    held = [*dict.fromkeys(str(row[field.name]) for row in rows if isinstance(row.get(field.name), str))]
    creates = [features for features in mine if features.verb == "create"]
    shown = [choice for features in mine for choice in constants(properties(features.shape).get(field.name, {}))]
    choices = choices_of(field.schema) or shown
    states = [*{snake(str(value)): value for value in (*held, *choices)}.values()]
    about = f"_{snake(' '.join(features.tool.description for features in creates))}_"
    led = _states_led_to(creates, states) if len(creates) == 1 else []
    named = initial_states([value for value in states if f"_{snake(str(value))}_" in about])
    usual = led or named or initial_states(states)
    if not creates:
        return usual if snake(field.name) in _STATES else [], False
    led = _states_led_to((features for features in mine if features.verb == "update"), states)
    if usual or not field.required or not (choices or led or KNOWN_STATES & {*map(snake, held)}):
        return usual, False
    first = first_state([value for value in states if value not in led] or states)
    is_over = not choices and (first in led or is_ended(first))
    return [_spell_like(held, _PREVIOUS.get(snake(str(first)), _INITIAL[0])) if is_over else first], True


def _states_led_to(feature_list: Iterable[ToolFeatures], states: Sequence[Json]) -> list[Json]:
    """Return the states that the verbs of tools lead to."""
    targets = (nearest_choice(features.parsed.act, states) for features in feature_list)
    return [state for state in targets if state is not None]


def _initial_flag(field: Field, held: Sequence[Json], mine: Sequence[ToolFeatures]) -> tuple[list[Json], bool]:
    """Return the flag of new records, and whether it is guessed: no act is done yet, else as most records have it."""
    usual, name = Counter(held).most_common(1)[0][0], snake(field.name).removeprefix("is_")
    begins = first_value(name, field.schema)
    is_led = any(name in (flag_after(features.parsed.word, {name}) or ()) for features in mine)
    is_done = begins is False and (is_led or name in KNOWN_STATES or is_participle(name))
    return [begins if is_done else usual], usual != begins and not is_led


def _usual_values(field: Field, held: Sequence[Json]) -> list[Json]:
    """Return the possible initial values: null, an empty value or 0, what all have."""
    if field.link is not None or not held or None in held:
        return [None] if None in held else []
    is_constant = len(held) > 1 and len({*map(str, held)}) == 1
    return [*(value for value in held if value in (0, "", [], {})), *(held[:1] if is_constant else ())]


def find_flags(features: ToolFeatures, fields: Mapping[str, Field]) -> Iterator[Field]:
    """Yield the flag that an update like `pin`, which another one undoes, sets on records that have no such state."""
    verb = _opposed(features.parsed.word)
    if features.verb == "update" and verb and not find_target_state(features, Entity("", fields=fields), ()):
        yield Field(next(iter(_STATES_AFTER.get(verb, ())), participle(verb)), {"type": "boolean"}, required=True)


def _opposed(word: str) -> str:
    """Return the positive one of two opposite verbs: `pin` for itself and `unpin`. '' for other verbs."""
    verb = _OPPOSITES.get(word, word.removeprefix("un"))
    return verb if verb in _OPPOSITES.values() or f"un{verb}" in VERBS_OF_RECORDS else ""


def find_toggled(features: ToolFeatures, entity: Entity) -> tuple[dict[str, Json], dict[str, How]]:
    """Return the flag that each call of `toggle_active` negates, and how: the one that it names, or the only one."""
    if features.verb != "update" or features.parsed.word not in _TOGGLING:
        return {}, {}
    flags = [name for name, field in entity.fields.items() if main_type(field.schema) == "boolean"]
    named = [name for name in flags if {*words(features.tool.name)}.issuperset(words(snake(name).removeprefix("is_")))]
    flags = named[:1] or flags
    return ({flags[0]: True}, {flags[0]: "toggle"}) if len(flags) == 1 else ({}, {})


def find_target_state(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the flag or the state that a verb like `close` leads to, spelled like the other states."""
    word = features.parsed.act  # `stop`, where other tools have what it stops
    if features.switched is not None:
        return _switched(word, features, entity, rows)
    is_counting = any(features.calculates(name) is not None for name in properties(features.input))
    flag = _said_flag(features, entity) or _find_flag(word, entity)
    status = features.parsed.status or (None if is_counting else reversible_state(word))
    own = (name for name in entity.fields if snake(name).removeprefix(f"{entity.name}_") in _STATES)
    name = next(own, None) or _held_state(entity, status, rows)
    if flag or name is None:
        return flag
    shown = properties(features.shape).get(name, {})  # a result may list the states that given records lack
    field = replace(entity.fields[name], schema=shown) if constants(shown) else entity.fields[name]
    about = features.tool.description.lower()
    match = _SAID_STATE.search(about)
    said = match[1] if match else status if status and re.search(rf"\b{re.escape(status)}\b", about) else ""
    noun = last_word(entity.name)
    behind = re.split(r"[.;\n]", about, maxsplit=1)[0].rpartition(noun)[2] if noun and noun in about else ""
    state = _find_state(word, status, said, field, rows, behind)
    if state is None and features.parsed.verb == "unknown":  # `scratch_run`: "Cancel a run"
        held = (row.get(name) for row in islice(rows, _SAMPLE_SIZE))
        known = dict.fromkeys(filter(is_key, (*choices_of(field.schema), *held)))
        first, *_ = (*words(features.tool.name), "")  # `discontinue_prescription`
        state = nearest_choice(features.parsed.described_verb, [*known]) or nearest_choice(first, [*known])
    return {} if state is None else {name: state}


def _switched(word: str, features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the value of a field that a verb leads to: a flag, or a state in words. Other texts do not change."""
    path = features.switched or ""
    name, _, inner = path.partition(".")
    field = Field(path, at(entity.fields[name].schema, inner))
    if main_type(field.schema) == "boolean":
        flag = flag_after(word, _POSITIVE)
        return {} if flag is None else {path: flag[1]}
    values = [as_object(row.get(name)).get(inner) if inner else row.get(name) for row in rows]
    held = str(next(iter(values), ""))
    if snake(held) not in KNOWN_STATES:
        return {}
    status, switched = features.parsed.status or reversible_state(word), [{path: value} for value in values]
    other = next((state for state in _STATES_AFTER.get(word, ()) if _OPPOSITE_STATES.get(held) == state), None)
    state = other or _find_state(word, status, "", field, switched)
    return {} if state is None else {path: state}


def find_listed_state(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the flag or the states of the records that a tool like `list_open_tasks` lists, if some have it.

    So it is of the `sent` messages among those with a `status`.
    """
    is_word = features.parsed.verb == "unknown" and features.parsed.word  # `weak_hives`
    word = features.parsed.word if is_word else next(iter(features.parsed.noun), "")
    if features.verb != "list" or word in words(entity.name):
        return {}
    if word not in QUALIFIERS:
        return _find_choice(word, entity, rows, properties(features.shape), is_described=bool(is_word))
    flags = _flags_by_name(entity)
    alike = {word}.union(*(states for states in map(frozenset, _STATES_AFTER.values()) if word in states))
    if flag := next((flags[name] for name in flags if name in alike), None):
        return {flag: True}
    is_open = word == "open" or word in _LATE
    if flag := next((flags[name] for name in flags if (name in FINAL and is_open) or f"un{name}" == word), None):
        return {flag: False}
    for name, field in entity.fields.items():
        if snake(name) in _STATES:
            held = (row[name] for row in islice(rows, MAX_ROWS) if isinstance(row.get(name), str))
            states = [str(state) for state in dict.fromkeys((*choices_of(field.schema), *held))]
            unfinished = [state for state in states if snake(state) not in FINAL]
            waiting = initial_states(states)[:1] if word == "pending" else unfinished if is_open else []
            exact, near = ([state for state in states if snake(state) in names] for names in ({word}, alike))
            listed = exact or waiting or near[:1]
            return {name: listed[0] if len(listed) == 1 else listed} if listed else {}
    return {}


def _find_choice(
    word: str, entity: Entity, rows: Sequence[Record], shown: Record, *, is_described: bool
) -> dict[str, Json]:
    """Return the field that groups records and may have the value of a word: `type` of `list_hourly_jobs`.

    `is_described`: the word only describes the records. Then it may be any text that given ones have: the `strength` of
    `weak_hives`. `shown` are the properties of the rows that a tool shows.
    """
    for name, field in entity.fields.items():
        held = [row[name] for row in islice(rows, MAX_ROWS) if isinstance(row.get(name), str)]
        choices = (*choices_of(field.schema), *choices_of(as_object(shown.get(name))), *held)
        is_meant = snake(name) in _GROUPS or (is_described and name != entity.key)
        for choice in choices if is_meant else ():
            if snake(str(choice)) == word:
                return {name: choice}
    return {}


def find_deadline(name: str, plan: Plan, entity: Entity) -> tuple[str, bool] | None:
    """Return the time of records that a list like `list_overdue_loans` compares with now, and whether it is past.

    None if the records lack such a time, or a state or a flag says so.
    """
    parts, fixed = {*words(name)}, {snake(str(value)) for value in (*plan.fixed, *plan.fixed.values())}
    late, asked = _LATE & parts, (_LATE | _UPCOMING) & parts
    times = {name: {*words(snake(name))} for name, field in entity.fields.items()
             if main_type(field.schema) != "boolean" and _AMOUNTS.isdisjoint(words(snake(name)))}  # fmt: skip
    ends = [name for name in times if _DEADLINES & times[name]]
    starts = [name for name in times if _BEGINNINGS & times[name] and not snake(name).startswith(_CHANGES)]
    field = next(iter(ends if late else [*ends, *starts]), None)
    return None if plan.verb != "list" or field is None or not asked or asked & fixed else (field, bool(late))


def _held_state(entity: Entity, status: str | None, rows: Sequence[Record]) -> str | None:
    """Return the field of given records that holds states under another name: the `proof` that is `approved`."""
    names = [name for name, field in entity.fields.items() if main_type(field.schema) == "string" and status]
    held = {name: {snake(str(row.get(name))) for row in islice(rows, _SAMPLE_SIZE)} for name in names}
    return next((name for name in names if held[name] & STATES and name != entity.key), None)


def _find_state(
    word: str, status: str | None, said: str, field: Field, rows: Sequence[Record], about: str = ""
) -> Json:
    """Return the state of a field or of given records that a verb leads to. None if no choice fits.

    `said` is what a description marks records as, or the status, if it has that word. Else it is the last state that
    is mentioned in what follows the noun in the description (`about`): "Put a scheduled show on sale".
    """
    held = (row[field.name] for row in islice(rows, MAX_ROWS) if isinstance(row.get(field.name), str))
    states = [str(choice) for choice in dict.fromkeys((*choices_of(field.schema), *held))]
    known = next((target for wanted in (said, status) for target in states if snake(target) == wanted), None)
    is_named = bool(said) and said == status and (known is not None or not constants(field.schema))
    state = known if is_named else nearest_choice(word, states) or known or _last_mentioned(states, about)
    is_new = state is None and said != status and said.endswith("ed")  # `check_in`: "Mark the guest as arrived"
    named = said if is_new else status
    return _spell_like(states, named) if named and state is None and not constants(field.schema) else state


def _last_mentioned(states: Sequence[str], about: str) -> str | None:
    text = f" {' '.join(words(about))} "
    places = {text.rfind(f" {' '.join(words(snake(state)))} "): state for state in states}
    last = max(places, default=-1)
    before = text[: max(last, 0)].split()[-1:]
    return None if last < 0 or not _CONDITION_ENDS.isdisjoint(before) else places[last]


def nearest_choice(word: str, choices: Sequence[Json]) -> Json:
    """Return the choice that a verb leads to: `close` to `Closed`, `start` to `running`, or None."""
    by_name = {_spelled(str(value)): value for value in reversed(choices)}
    names = (
        participle(word),
        f"{word}d",
        f"{word}ed",
        f"{word}led",
        word,
        *_STATES_AFTER.get(word, ()),
        f"{word}{word[-1:]}ed",
    )
    return next((by_name[name] for name in map(_spelled, names) if name in by_name), None)


def _spelled(value: str) -> str:
    """Return the words of a value with one spelling of `canceled`."""
    return snake(value).replace("canceled", "cancelled")


def _said_flag(features: ToolFeatures, entity: Entity) -> dict[str, Json]:
    """Return the flag that a description sets, `active = false`, or that a tool marks: `played` by `mark_played`."""
    flags, asked = _flags_by_name(entity), {*map(snake, properties(features.input))}
    stated = _CONDITIONS.split(features.tool.description)[0]
    said = {name: value.lower() == "true" for name, value in _SAID_FLAG.findall(stated)}
    named = {*words(features.tool.name)} if features.tool.name.lower().startswith("mark") else set[str]()
    marked = {name: "not" not in named for name in flags if {*words(name)} <= named}
    meant = {name: value for name, value in {**marked, **said}.items() if name in flags.keys() - asked}
    return {flags[name]: value for name, value in [*meant.items()][:1]}


def _flags_by_name(entity: Entity) -> dict[str, str]:
    """Return the flags of an entity by their names, and by the last word where only one ends so: `rent_paid`."""
    flags = {snake(name).removeprefix("is_"): name for name, field in entity.fields.items()
             if main_type(field.schema) == "boolean"}  # fmt: skip
    counts = Counter(map(last_word, flags))
    return {**{last_word(word): name for word, name in flags.items() if counts[last_word(word)] == 1}, **flags}


def _find_flag(word: str, entity: Entity) -> dict[str, Json]:
    """Return the flag of an entity that a verb sets, and its value: `pinned` and False for `unpin`."""
    flags = _flags_by_name(entity)
    flag = flag_after(word, flags)
    return {} if flag is None else {flags[flag[0]]: flag[1]}


def _spell_like(others: Sequence[str], state: str) -> str:
    """Return a state spelled like the others: `On Hold` beside `In Use`."""
    is_titled = bool(others) and all(text[:1].isupper() for text in others)
    is_spaced = is_titled or any(" " in text for text in others)
    text = state.replace("_", " ") if is_spaced and not any("_" in text for text in others) else state
    if is_titled:
        return text.upper() if all(text.isupper() for text in others) else text.title()
    return text
