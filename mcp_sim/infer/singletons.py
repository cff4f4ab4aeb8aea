"""Tools that read or change a singleton: an account, settings, a watch list, the state of a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mcp_sim.infer.argument_names import OPTIONS
from mcp_sim.infer.descriptions import choices_of, nearest_choice
from mcp_sim.infer.flags import find_flag
from mcp_sim.infer.names import ParsedName
from mcp_sim.infer.singleton_effects import (
    FieldNames,
    SingletonEffect,
    core_words,
    find_emptied_list,
    find_field,
    find_field_in_noun,
    find_shown_fields,
    find_switched_field,
    find_toggle,
    find_verb_flag,
    join_words,
)
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import at, items, main_type, properties, required_among, types_of
from mcp_sim.types.lexicon.english import plural, snake, vocabulary, words
from mcp_sim.types.plans import How

_APPEND = vocabulary(
    "add append follow subscribe push enqueue star like favorite bookmark watch track block mute save include "
    "put pin join install grant"
)
_REMOVE = vocabulary(
    "remove delete unfollow unsubscribe pop dequeue unstar unlike unfavorite unwatch untrack unblock unmute exclude "
    "discard unpin leave uninstall revoke drop"
)
_ADD = vocabulary("fund deposit add top fill refill refuel charge recharge credit increase increment earn load raise")
_SUBTRACT = vocabulary("withdraw spend debit deduct decrease decrement consume reduce use burn")
_AMOUNTS = vocabulary("amount value quantity delta sum by points number count units")
_SHOWING_WORDS = vocabulary("check display show view get read status print")
_SETTERS = frozenset({"set", "change", "adjust", "update", "select", "switch", "choose"})
_SWITCHES = vocabulary("start stop activate deactivate engage disengage release turn switch enable disable toggle")
_CHANGE_PHRASES: dict[How, str] = {
    "append": "appends to",
    "remove": "takes out of",
    "add": "adds to",
    "subtract": "subtracts from",
    "set": "sets",
}


def find_singleton_effect(
    parsed: ParsedName, schema: Record, output: Record, known: Iterable[Entity], about: str = ""
) -> SingletonEffect | None:
    """Return the effect of the tool on one of the singletons, or None.

    `about` is its description.
    """
    singles = [entity for entity in known if entity.singleton]
    found = [one for entity in singles for one in _effects_on(parsed, schema, output, entity)]
    if not found and not properties(output):
        found = [one for entity in singles for one in _effects_on_one_field(parsed, schema, about, entity)]
        found = found or [*_effects_by_near_name(parsed, schema, singles)]
    return max(found, key=_rank, default=None)


def _effects_by_near_name(parsed: ParsedName, schema: Record, singles: Iterable[Entity]) -> Iterator[SingletonEffect]:
    """Yield the effect of `get_user_info()` on `user_account`, the only name that begins or ends with the noun."""
    noun, size = parsed.noun, len(parsed.noun)
    near = [one.name for one in singles if noun in {words(one.name)[:size], words(one.name)[-size:]}]
    if size and parsed.verb == "get" and not properties(schema) and len(near) == 1:
        yield SingletonEffect("get", near[0], reason=f"shows the singleton {near[0]}")


def _effects_on_one_field(parsed: ParsedName, schema: Record, about: str, entity: Entity) -> Iterator[SingletonEffect]:
    needed = required_among(properties(schema), schema)
    side = find_switched_field(parsed, needed, entity) or find_shown_fields(parsed, needed, about, entity)
    if side is not None:
        yield side


def _rank(one: SingletonEffect) -> tuple[int, int, int]:
    """Rank changes before values that are shown."""
    return len(one.sets) + len(one.fixed) + len(one.chosen), len(one.shows) + len(one.only), one.verb == "get"


def _effects_on(parsed: ParsedName, schema: Record, output: Record, entity: Entity) -> Iterator[SingletonEffect]:
    shows = _shown_fields(output, entity)
    arguments = {name: part for name, part in properties(schema).items() if snake(name) not in OPTIONS}
    needed = required_among(arguments, schema)
    change = _list_change(parsed, arguments, needed, entity) or _amount_change(parsed, arguments, shows, entity)
    if change is not None:
        argument, name, how = change
        field = f"{_CHANGE_PHRASES[how]} {name} of {entity.name}"
        yield SingletonEffect("update", entity.name, {argument: name}, {name: how}, shows=shows, reason=field)
        return
    did = find_verb_flag(parsed, arguments, shows, entity)
    if did is not None:
        yield did
        return
    turned = find_toggle(parsed, needed, shows, entity) or find_emptied_list(parsed, needed, shows, entity)
    if turned is not None:
        yield turned
        return
    if parsed.verb == "update" or (parsed.word in _SWITCHES and shows):
        sets, fixed = _written_fields(parsed, arguments, needed, shows, output, entity)
        switch = _choice_of_states(parsed, arguments, shows, output, entity)
        if switch is not None:
            yield switch
        elif sets or fixed:
            names = ", ".join([*sets.values(), *fixed])
            reason = f"sets {names} of {entity.name}"
            yield SingletonEffect("update", entity.name, sets, {}, fixed, shows, reason=reason)
        return
    is_read = parsed.verb in {"get", "list", "search"} or bool({parsed.word, *parsed.noun[:1]} & _SHOWING_WORDS)
    picks = len(needed) == 1 and bool(choices_of(arguments[needed[0]]))
    if is_read and (not needed or picks) and (_shows_mostly(shows, output) or _is_named(parsed, entity, output)):
        yield SingletonEffect("get", entity.name, shows=shows, reason=f"shows the singleton {entity.name}")
    elif is_read and not arguments:
        place, field = _only_place(output), find_field_in_noun(parsed, entity)
        if field is not None and place is not None and _fits(at(output, place), entity.fields[field].schema):
            yield SingletonEffect("get", entity.name, shows={place: field}, reason=f"shows {field} of {entity.name}")


def _only_place(output: Record) -> str | None:
    """Return the only place of a result: '' if it declares nothing, or its only property."""
    names = [*properties(output)]
    return "" if not names else names[0] if len(names) == 1 else None


def _fits(place: Record, field: Record) -> bool:
    """Whether a value of the field fits the place."""
    kinds = {*types_of(place)}
    return not kinds or bool(kinds & ({*types_of(field)} | ({"number"} if main_type(field) == "integer" else set())))


def _shown_fields(output: Record, entity: Entity) -> dict[str, str]:
    """Return place of the result -> the field shown there."""
    return FieldNames(entity).match_all(_leaves(output, "", 0))


def _leaves(schema: Record, path: str, depth: int) -> Iterator[tuple[str, Record]]:
    for name, part in properties(schema).items():
        here = f"{path}.{name}" if path else name
        if properties(part) and depth < 2:
            yield from _leaves(part, here, depth + 1)
        else:
            yield here, part


def _list_change(
    parsed: ParsedName, arguments: Record, needed: list[str], entity: Entity
) -> tuple[str, str, How] | None:
    """Return the list that `add_to_watchlist(stock)` or `unfollow_user(name)` changes, and how."""
    how: How | None = "append" if parsed.word in _APPEND else "remove" if parsed.word in _REMOVE else None
    name = needed[0] if len(needed) == 1 else None
    if how is None or name is None or main_type(arguments[name]) not in {"string", "integer", "array"}:
        return None
    stem = "" if parsed.word in {"add", "append", "remove", "delete", "put"} else parsed.word.removeprefix("un")
    for one in entity.fields.values():
        if main_type(one.schema) != "array" or main_type(items(one.schema)) == "object":
            continue
        own = join_words(one.name)
        named = {join_words("_".join(part)) for part in (parsed.noun, parsed.after[1:]) if part}
        if {own, core_words(one.name)} & named or (stem and len(stem) > 2 and own.startswith(stem)):
            return name, one.name, how
    return None


def _amount_change(
    parsed: ParsedName, arguments: Record, shows: Mapping[str, str], entity: Entity
) -> tuple[str, str, How] | None:
    """Return the number that `fund_account(amount)` or `fill_tank(litres)` changes, and how."""
    how: How | None = "add" if parsed.word in _ADD else "subtract" if parsed.word in _SUBTRACT else None
    numbers = [name for name, part in arguments.items() if main_type(part) in {"integer", "number"}]
    named = [name for name in numbers if {*words(name)} & _AMOUNTS]
    given = named[0] if len(named) == 1 else numbers[0] if len(numbers) == 1 and len(arguments) == 1 else None
    if how is None or given is None:
        return None
    fields = [one.name for one in entity.fields.values() if main_type(one.schema) in {"integer", "number"}]
    shown = [name for name in dict.fromkeys(shows.values()) if name in fields]
    mentioned = {*words(given), *parsed.noun, *parsed.after}
    near = shown or [name for name in fields if {*words(name)} & (mentioned - _AMOUNTS)]
    near = near or [name for name in fields if snake(name) == "balance" and {*parsed.noun} & {*words(entity.name)}]
    return (given, near[0], how) if len(near) == 1 else None


def _written_fields(
    parsed: ParsedName,
    arguments: Record,
    needed: list[str],
    shows: Mapping[str, str],
    output: Record,
    entity: Entity,
) -> tuple[dict[str, str], dict[str, Json]]:
    """Return the fields that arguments set, and those that the verb itself sets (`start`: running)."""
    exact = [name for name in entity.fields if len(parsed.noun) > 1 and join_words(name) == "".join(parsed.noun)]
    if len(exact) == 1 and len(needed) == 1 and parsed.word in _SETTERS:
        return {needed[0]: exact[0]}, {}
    sets = FieldNames(entity).match_all(arguments.items())
    if sets:
        return sets, {}
    field = find_field(parsed, shows, entity)
    if field is None:
        near = join_words(entity.name) in {"".join(parsed.noun), core_words("_".join(parsed.noun))}
        flags = find_flag(parsed.word, entity) if not needed else {}
        return {}, flags if near or (not parsed.noun and flags.keys() & {*shows.values()}) else {}
    only = needed[0] if len(needed) == 1 else None
    if only is not None and parsed.word in _SETTERS:
        return {only: field}, {}
    found = nearest_choice(parsed.word, _states_of(field, shows, output, entity))
    return {}, {field: found} if found is not None else {}


def _choice_of_states(
    parsed: ParsedName, arguments: Record, shows: Mapping[str, str], output: Record, entity: Entity
) -> SingletonEffect | None:
    """Return the effect of `activate_brake(mode: engage | release)`: an argument chooses the state."""
    meant = find_field(parsed, shows, entity)
    if meant is None:
        return None
    states = _states_of(meant, shows, output, entity)
    for name, part in arguments.items():
        leads = {str(value): nearest_choice(snake(str(value)), states) for value in choices_of(part)}
        if leads and not leads.keys() <= {*map(str, states)} and all(state is not None for state in leads.values()):
            chosen = {value: {meant: state} for value, state in leads.items()}
            reason = f"'{name}' chooses {meant} of {entity.name} becomes"
            return SingletonEffect("update", entity.name, shows=shows, choice=name, chosen=chosen, reason=reason)
    return None


def _states_of(meant: str, shows: Mapping[str, str], output: Record, entity: Entity) -> list[Json]:
    places = [at(output, path) for path, field in shows.items() if field == meant]
    choices = (choices_of(part) for part in (entity.fields[meant].schema, *places))
    return next((found for found in choices if found), list[Json]())


def _shows_mostly(shows: Mapping[str, str], output: Record) -> bool:
    return bool(shows) and 2 * len(shows) >= sum(1 for _ in _leaves(output, "", 0))


def _is_named(parsed: ParsedName, entity: Entity, output: Record) -> bool:
    """Whether the noun is the entity, if there is no outputSchema."""
    noun = "".join(parsed.noun)
    nouns = {noun, plural(noun), core_words("_".join(parsed.noun))} - {""}
    return not properties(output) and bool(nouns & {join_words(entity.name), core_words(entity.name)})
