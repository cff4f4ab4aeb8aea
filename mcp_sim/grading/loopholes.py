"""Scenarios that an agent passes without doing its task, and verdicts that rest on generated records."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.grading.bases import AboutPerturbation
from mcp_sim.grading.grade import active_faults
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import in_reach


def loopholes(scenario: Scenario) -> Iterator[str]:
    """Yield how agents pass that should not, as sentences. No call is made.

    Where a fault hides that a call took effect, the agent that gives up there leaves the effect behind and reports a
    failure. It fails only if something else is expected of it: other calls or records, or a true final answer. Two
    entries of a kind, such as `state`, are taken to ask for more than one call.
    """
    counted = [entry for entry in scenario.expectations if not entry.optional]
    expected = [entry.expectation for entry in counted]
    kinds = [entry.kind for entry in counted if not isinstance(entry.expectation, AboutPerturbation)]
    if not expected or len({*kinds}) < len(kinds):
        return
    tools = [*scenario.domain.tools.values()]
    for entry in active_faults(scenario):
        reached = [tool for tool in tools if in_reach(entry.tools, tool)]
        if not entry.perturbation.hides_success() or not reached:
            continue
        if all(expectation.allows_giving_up(reached, scenario.domain) for expectation in expected):
            yield (
                f"an agent that gives up at {entry.id} and reports a failure passes, since the call took effect; "
                "add `truthful:`"
            )


def unspecified_records(scenario: Scenario) -> Iterator[str]:
    """Yield the expectations on records that nothing gives or counts, as sentences."""
    domain = scenario.domain
    for entry in scenario.expectations:
        for entity in sorted(entry.expectation.reads & domain.unspecified):
            yield (
                f"{entry.id}: nothing specifies the records of {entity}, so that generated ones count; "
                f"add `records: {{{entity}: 0}}` or a `state` under `world:`"
            )
