"""Read and check `when` mappings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.scenario import per
from mcp_sim.spec.places import Place
from mcp_sim.spec.trigger_conflicts import contradictions
from mcp_sim.types import Tool
from mcp_sim.types.call_matchers import quota_problems
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UnknownKind, did_you_mean
from mcp_sim.types.kinds import COMBINATORS, Role, triggers
from mcp_sim.types.scenario import When


def read_when(place: Place) -> When:
    """Read a `when` mapping. Invalid parts are noted as errors and left out."""
    if not place.is_mapping:
        place.error(f"expected a mapping of triggers, got {shown(place.value)}")
        return When()
    body = place.mapping
    read = [_trigger(place, name) for name in body if name not in COMBINATORS]
    return When(
        triggers=tuple(trigger for trigger in read if trigger is not None),
        any=_nested_list(place, "any"),
        all=_nested_list(place, "all"),
        none=(read_when(place.at("not")),) if "not" in body else (),
        per=_per(place.at("per")) if "per" in body else None,
    )


def _trigger(place: Place, name: str) -> Any:
    try:
        kind = triggers[name]
    except UnknownKind:
        place.at(name).error(f"unknown trigger{did_you_mean(name, [*triggers.names(), *COMBINATORS])}")
        return None
    return place.at(name).read(kind)


def _nested_list(place: Place, word: str) -> tuple[When, ...]:
    if word not in place.mapping:
        return ()
    at = place.at(word)
    if not at.items:
        got = "an empty list" if at.is_list else shown(at.value)
        at.error(f"expected a list of mappings of triggers, got {got}")
    return tuple(read_when(nested) for nested in at.items)


def _per(place: Place) -> str | None:
    try:
        return per(place.value)
    except ValueError as error:
        place.error(str(error))
        return None


def check_when(place: Place, when: When, domain: Domain, tools: Sequence[Tool], *, is_complete: bool) -> None:
    """Note what is impossible or doubtful with these tools.

    If `is_complete` (all of it was read), also note whether it can never hold.
    """
    _check_triggers(place, when, domain, tools)
    for path, problem in contradictions(when, domain.now) if is_complete else ():
        place.at(*path).error(problem)


def _check_triggers(place: Place, when: When, domain: Domain, tools: Sequence[Tool]) -> None:
    if when.per is not None:
        _check_per(place.at("per"), when, tools)
    for trigger in when.triggers:
        at = place.at(triggers.name_of(trigger))
        for problem in trigger.problems(domain, tools):
            at.error(problem)
        for doubt in trigger.warnings(domain, tools):
            at.warning(doubt)
    for word, group in (("any", when.any), ("all", when.all)):
        for index, nested in enumerate(group):
            _check_triggers(place.at(word, index), nested, domain, tools)
    for nested in when.none:
        _check_triggers(place.at("not"), nested, domain, tools)


def _check_per(place: Place, when: When, tools: Sequence[Tool]) -> None:
    if not any(trigger.role is Role.COUNTER for trigger in when.triggers):
        place.warning("has no effect without a counter beside it: nth, first, every or burst")
    for problem in quota_problems(when.per or "", tools):
        place.error(problem)
