"""Note what guessed writes leave in doubt, and what sure ones settle, and find the reads that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Effect, Note
from mcp_sim.types import Key, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Inside
from mcp_sim.types.doubts import ANY_FIELD, EXISTENCE, NEW_RECORDS, Doubts, doubts_name
from mcp_sim.types.plans import DECLARED, Plan
from mcp_sim.types.views import find_key


def is_unsure_write(plan: Plan) -> bool:
    """Whether a write may have changed any field: its plan is a guess, or an update sets nothing."""
    return plan.guessed or (plan.verb == "update" and not (plan.sets or plan.fixed))


def doubts_noter(plan: Plan) -> Note:
    """Compile what notes the doubts that a tool's writes leave, and those that they settle."""
    entity, is_unsure = plan.entity or "", is_unsure_write(plan)
    sets = [(argument(path), field.partition(".")[0]) for path, field in plan.sets.items()]

    def note(turn: Turn, effect: Effect) -> None:
        fresh = effect.doubts | ({ANY_FIELD} if is_unsure else set[str]())
        if not fresh and not is_any_doubtful(turn, entity):
            return
        given = {field for fetch, field in sets if fetch(turn.call.arguments) is not ABSENT} - plan.how.keys()
        former = _former_key(effect, entity) if plan.verb == "update" else effect.key
        is_whole = plan.verb == "delete" or turn.view.get(entity, former) is None
        doubts = Doubts(turn.memory, entity)
        left = frozenset[str]() if is_whole else doubts.about(former)
        doubts.put(former, frozenset())
        doubts.put(effect.key, left)
        if not is_unsure:
            doubts.settle(effect.key, {ANY_FIELD} if is_whole else given | plan.fixed.keys(), turn.index)
        doubts.put(effect.key, doubts.about(effect.key) | fresh)

    return note


def _former_key(effect: Effect, entity: str) -> Key:
    """Return the key that the record of an effect had before: another one if the effect renames it."""
    gone = (change.key for change in effect.changes if change.op == "remove" and change.entity == entity)
    return next(gone, effect.key)


def absence_test(plan: Plan) -> Callable[[Turn], bool]:
    """Compile the test of a failure to find the record that a call names: whether a guess may have removed it."""
    fetch, entity = argument(plan.key or ""), plan.entity or ""

    def is_doubtful(turn: Turn) -> bool:
        asked = fetch(turn.call.arguments) if plan.key is not None and is_any_doubtful(turn, entity) else None
        return (
            isinstance(asked, str | int)
            and turn.view.get(entity, asked) is None
            and bool(Doubts(turn.memory, entity).about(asked))
        )

    return is_doubtful


def missing_record_noter(plan: Plan, domain: Domain) -> Callable[[Turn], bool]:
    """Compile the test of a refused call: whether the server may rather have made the record that is missing.

    Adding to an amount under a new name makes one, where no other tool makes such records: `restock(ingredient)`.
    """
    entity, variants = domain.entities[plan.entity or ""], domain.variants
    is_created = any(other.verb == "create" and other.entity == entity.name for other in variants)
    fetch, is_sure = argument(plan.key or ""), plan.basis.get("verb", DECLARED).source == "declared"
    if "add" not in plan.how.values() or plan.key is None or is_created or is_sure or not entity.natural:
        return lambda _turn: False

    def is_missing(turn: Turn) -> bool:
        asked = fetch(turn.call.arguments)
        if not isinstance(asked, str) or find_key(turn.view, entity.name, asked) is not None:
            return False
        Doubts(turn.memory, entity.name).add(asked, {ANY_FIELD}, turn.index)
        return True

    return is_missing


def in_doubt(entity: str) -> str:
    """Return the reason to doubt an answer that shows records of an entity."""
    return f"an earlier call may have changed records of {entity}"


def is_any_doubtful(turn: Turn, entity: str) -> bool:
    """Whether some record of an entity is in doubt."""
    return bool(turn.memory.get(doubts_name(entity)))


def doubts_test(plan: Plan, shown: AbstractSet[str]) -> Callable[[Turn, Iterable[Key]], bool]:
    """Compile the test of a read: whether a record that it shows, or what it selects records by, is in doubt.

    `shown` are the fields that the result declares; empty: all.
    """
    entity, choosing = plan.entity or "", {rule.field for rule in plan.filters.values()}
    seen = shown | {ANY_FIELD, EXISTENCE}
    choosing |= {ANY_FIELD, NEW_RECORDS} if plan.verb in {"list", "search"} else set()

    def is_doubtful(turn: Turn, keys: Iterable[Key]) -> bool:
        doubts = Doubts(turn.memory, entity)
        if not choosing.isdisjoint(doubts.counts()):
            return True
        fields_of_rows = (doubts.about(key) | doubts.everywhere(key) for key in keys)
        return any(fields - {NEW_RECORDS} and not (shown and seen.isdisjoint(fields)) for fields in fields_of_rows)

    return is_doubtful


def inner_doubts_test(plan: Plan, place: Inside) -> Callable[[Turn, Iterable[Key]], bool]:
    """Compile the test of a read of records inside others: whether one of these is in doubt, or the one it names."""
    fetch = argument(plan.holder or "")

    def is_doubtful(turn: Turn, _keys: Iterable[Key]) -> bool:
        asked = fetch(turn.call.arguments) if plan.holder is not None else ABSENT
        if not isinstance(asked, str | int):
            return is_any_doubtful(turn, place.entity)
        key, doubts = find_key(turn.view, place.entity, asked), Doubts(turn.memory, place.entity)
        return key is None or bool(doubts.about(key) | doubts.everywhere(key))

    return is_doubtful
