"""What guessed writes leave in doubt: fields of records that reads mark as guessed until a sure write sets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import ANY_FIELD, Effect, Note
from mcp_sim.types import Key, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import DECLARED, Plan
from mcp_sim.types.views import find_key

_READS = frozenset({"get", "list", "search"})

EVERY_RECORD = "*"
"""Instead of a key: a call may have changed any record of an entity."""

EXISTENCE = "?"
"""Instead of a field: the record may not exist, since the call that made it may have been refused."""


def doubts_name(entity: str) -> str:
    """Return the name under which a world remembers which fields of an entity are in doubt; it is unset without any."""
    return f"doubts/{entity}"


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
        left = frozenset[str]() if is_whole else _doubts(turn, entity, former) - given - plan.fixed.keys()
        _set_doubts(turn, entity, former, frozenset())
        _set_doubts(turn, entity, effect.key, left | fresh)

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
            isinstance(asked, str | int) and turn.view.get(entity, asked) is None and bool(_doubts(turn, entity, asked))
        )

    return is_doubtful


def add_doubts(turn: Turn, entity: str, key: Key, fields: AbstractSet[str]) -> None:
    """Note that a call may have changed fields of a record, or of `EVERY_RECORD`."""
    _set_doubts(turn, entity, key, _doubts(turn, entity, key) | fields)


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
        add_doubts(turn, entity.name, asked, {ANY_FIELD})
        return True

    return is_missing


def is_any_doubtful(turn: Turn, entity: str) -> bool:
    """Whether some record of an entity is in doubt."""
    return bool(_counts(turn, entity))


def doubts_test(plan: Plan, shown: AbstractSet[str]) -> Callable[[Turn, Iterable[Key]], bool]:
    """Compile the test of a read: whether a record that it shows, or what it selects records by, is in doubt.

    `shown` are the fields that the result declares; empty: all.
    """
    entity, choosing = plan.entity or "", {rule.field for rule in plan.filters.values()}
    seen = shown | {ANY_FIELD, EXISTENCE}
    choosing |= {ANY_FIELD} if plan.verb in {"list", "search"} else set()

    def is_doubtful(turn: Turn, keys: Iterable[Key]) -> bool:
        counts = dict(_counts(turn, entity))
        if not choosing.isdisjoint(counts):
            return True
        everywhere = _doubts(turn, entity, EVERY_RECORD)
        doubts = (_doubts(turn, entity, key) | everywhere for key in keys)
        return any(fields and not (shown and seen.isdisjoint(fields)) for fields in doubts)

    return is_doubtful


def _counts(turn: Turn, entity: str) -> tuple[tuple[str, int], ...]:
    """Return how many records of an entity are in doubt, by field."""
    return turn.memory.get(doubts_name(entity), ())


def _doubts(turn: Turn, entity: str, key: Key) -> frozenset[str]:
    return frozenset(turn.memory.get(f"{doubts_name(entity)}/{key!r}", ()))


def _set_doubts(turn: Turn, entity: str, key: Key, doubts: AbstractSet[str]) -> None:
    counts = dict(_counts(turn, entity))
    for fields, step in ((_doubts(turn, entity, key), -1), (doubts, 1)):
        for field in fields:
            counts[field] = counts.get(field, 0) + step
    turn.memory.set(f"{doubts_name(entity)}/{key!r}", tuple(sorted(doubts)))
    turn.memory.set(doubts_name(entity), tuple(sorted((name, count) for name, count in counts.items() if count)))
