"""What does a server say of its world when it starts: records, faults, guesses?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_sim.faults.trigger_evaluation import describe
from mcp_sim.types.clock import Mode, iso
from mcp_sim.types.scenario import PerturbationEntry, Scenario

MOST_NAMED = 12
"""So many of a kind are named when a server starts."""


def announcement(
    scenario: Scenario, counts: Mapping[str, int], seed: int, clock: Mode, reference: str
) -> Iterator[str]:
    """What is in the world, what may go wrong, and what was guessed."""
    records = ", ".join(first_of([f"{entity} {count}" for entity, count in counts.items()]))
    models = ", ".join(dict.fromkeys(entry.kind for entry in scenario.world_models))
    yield f"  records  {records or 'none'}"
    faults = [entry for entry in scenario.perturbations if entry.enabled]
    width = max((len(entry.id) for entry in faults), default=0)
    for number, entry in enumerate(faults):
        yield f"  {'faults ' if number == 0 else '       '}  {entry.id:{width}}  {_fault(entry)}"
    if not faults:
        yield "  faults   none"
    yield f"  seed {seed}, clock {clock}, now {iso(scenario.now)}, world model {models}"
    yield from _guesses(scenario, reference)


def _fault(entry: PerturbationEntry) -> str:
    most = "" if entry.fires.max is None else f", at most {entry.fires.max} times"
    silent = ", without a sign of it" if entry.visible == "implicit" else ""
    return f"{entry.kind} on {', '.join(entry.tools) or 'every tool'}: {describe(entry.when)}{most}{silent}"


def _guesses(scenario: Scenario, reference: str) -> Iterator[str]:
    """A guess is loud: the tools of which too little is known to be sure what they do."""
    guessed = [f"{plan.tool}: {plan.verb}{f' {plan.entity}' if plan.entity else ''}" for plan in scenario.guesses]
    if guessed:
        share = f"{len(guessed)} of {len(scenario.domain.plans)} tools {'does' if len(guessed) == 1 else 'do'}"
        yield f"  GUESSED  what {share}; `mcp-sim plan {reference}` shows the lines that correct it:"
    yield from (f"             {one}" for one in first_of(guessed))


def first_of(told: list[str]) -> list[str]:
    """As many as a screen takes, and how many there are beside them."""
    return told if len(told) <= MOST_NAMED else [*told[: MOST_NAMED - 1], f"and {len(told) - MOST_NAMED + 1} more"]
