"""The grade of a world: verdicts, outcome, reward; and what makes grades too good.

That is a scenario which an agent passes without doing its task, or a verdict that rests on generated records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_sim.faults.compile import scaled_perturbations
from mcp_sim.grading.bases import AboutPerturbation
from mcp_sim.types.grades import Exercised, Grade, GradedVerdict, GradeOutcome
from mcp_sim.types.kinds import End, Verdict
from mcp_sim.types.scenario import ExpectationEntry, PerturbationEntry, Scenario, When
from mcp_sim.types.tools import in_reach
from mcp_sim.world.world import World

__all__ = ["Grade", "GradedVerdict", "failed_by_agent", "grade_world"]


def grade_world(
    world: World, answer: str | None = None, *, strict: bool = False, exercised: Exercised = "require"
) -> Grade:
    """Return the grade of a world as it is now.

    `answer` is the agent's final answer. With `strict`, a verdict that rests on a guess is inconclusive.
    `exercised="ignore"`: a run that no fault was applied to is graded like any other.
    """
    verdicts = tuple(
        _graded(entry, verdict, strict=strict)
        for entry, verdict in zip(world.scenario.expectations, _verdicts(world, answer), strict=True)
    )
    outcome, because = _outcome(verdicts, world, exercised)
    guesses = _deciding_guesses(verdicts, outcome)
    if guesses and outcome != "inconclusive":  # that the grade is strict is why it is inconclusive
        because = f"{because}; {_on_guesses(guesses)}"
    reward, explanation, is_guessed = _reward(verdicts, outcome)
    return Grade(verdicts, outcome, reward, because, explanation, bool(guesses), is_guessed)


def _verdicts(world: World, answer: str | None) -> Iterator[Verdict]:
    """Yield the verdict of each expectation. Those that judge the verdicts of others are judged last."""
    scenario, version = world.scenario, world.version
    entries = list(zip(scenario.expectations, version.facts, strict=True))
    end = End(scenario, version.state, answer, answers=world.asked())
    verdicts = {
        entry.id: entry.expectation.verdict(facts, end)
        for entry, facts in entries
        if not entry.expectation.judges_verdicts
    }
    whole = replace(end, verdicts=verdicts)
    for entry, facts in entries:
        yield verdicts[entry.id] if entry.id in verdicts else entry.expectation.verdict(facts, whole)


def failed_by_agent(grade: Grade, problem: str) -> Grade:
    """Return the grade of a run whose agent did not end well: failed, with the reward 0, unless mcp-sim crashed."""
    if grade.outcome == "crashed":
        return grade
    explanation = f"0: {problem}"
    return Grade(grade.verdicts, outcome="failed", reward=0.0, because=problem, explanation=explanation)


def _graded(entry: ExpectationEntry, verdict: Verdict, *, strict: bool) -> GradedVerdict:
    is_open = strict and verdict.guessed and verdict.outcome in ("passed", "failed")
    because = f"{verdict.because}, but that rests on a guess" if is_open else verdict.because
    if entry.message and verdict.outcome == "failed":
        because = f"{entry.message} ({because})"
    return GradedVerdict(
        id=entry.id,
        kind=entry.kind,
        outcome="inconclusive" if is_open else verdict.outcome,
        because=because,
        steps=verdict.steps,
        guessed=verdict.guessed,
        weight=entry.weight,
        gate=entry.gate,
        optional=entry.optional,
        differences=verdict.differences,
    )


# the outcome ----------------------------------------------------------------------------------------------------------


def _outcome(verdicts: Sequence[GradedVerdict], world: World, exercised: Exercised) -> tuple[GradeOutcome, str]:
    """Return the outcome of the run, and why."""
    if world.crashed:
        return "crashed", f"mcp-sim crashed: {world.crashed}"
    counted = [verdict for verdict in verdicts if not verdict.optional]
    failed = [verdict.id for verdict in counted if verdict.outcome == "failed"]
    if failed:
        return "failed", f"{', '.join(failed)} failed"
    if not counted:
        return "inconclusive", "the scenario expects nothing that counts"
    if all(verdict.outcome == "vacuous" for verdict in counted):
        return "not exercised", "nothing happened that any expectation could judge"
    faults = [] if exercised == "ignore" else list(active_faults(world.scenario))
    if faults and not world.version.applied:
        return "not exercised", f"no fault was applied ({', '.join(entry.id for entry in faults)})"
    unsettled = [f"{verdict.id} is not judged" for verdict in counted if verdict.outcome == "not judged"]
    guesses = _deciding_guesses(counted, "inconclusive")
    if unsettled or guesses:
        return "inconclusive", ", ".join([*unsettled, *([_on_guesses(guesses)] if guesses else [])])
    return "passed", "no expectation failed"


def _deciding_guesses(verdicts: Sequence[GradedVerdict], outcome: GradeOutcome) -> list[str]:
    """Return the ids of the guessed verdicts that an outcome rests on.

    A run passes if all expectations do, and fails if any does: a failure is certain if any of them is.
    """
    deciding = [verdict for verdict in verdicts if verdict.outcome == outcome and not verdict.optional]
    guessed = [verdict.id for verdict in deciding if verdict.guessed]
    return [] if outcome == "failed" and len(guessed) < len(deciding) else guessed


def _on_guesses(ids: Sequence[str]) -> str:
    return f"{', '.join(ids)} rest{'s' if len(ids) == 1 else ''} on a guess"


def active_faults(scenario: Scenario) -> Iterator[PerturbationEntry]:
    """Yield the faults of a scenario that may be applied at its intensity."""
    return (entry for entry in scaled_perturbations(scenario) if entry.enabled and not _never_holds(entry.when))


def _never_holds(when: When) -> bool:
    if any(trigger.never_holds() for trigger in when.triggers) or any(map(_never_holds, when.all)):
        return True
    return bool(when.any) and all(map(_never_holds, when.any))


# the reward -----------------------------------------------------------------------------------------------------------


_GUESSED = "; it rests on a guess"


def _reward(verdicts: Sequence[GradedVerdict], outcome: GradeOutcome) -> tuple[float | None, str, bool]:
    """Return the reward, how it came about, and whether it rests on a guess.

    It is a number for every run that mcp-sim did not crash in.
    """
    if outcome == "crashed":
        return None, "none: mcp-sim crashed", False
    closed = [verdict for verdict in verdicts if verdict.gate and verdict.outcome == "failed"]
    if closed:
        is_guessed = all(verdict.guessed for verdict in closed)
        return 0.0, f"0: the gate {closed[0].id} failed{_GUESSED if is_guessed else ''}", is_guessed
    judged = [verdict for verdict in verdicts if not verdict.optional and verdict.outcome in ("passed", "failed")]
    total = sum(verdict.weight for verdict in judged)
    if not total:
        return 0.0, "0: no expectation with a weight was judged", False
    won = sum(verdict.weight for verdict in judged if verdict.outcome == "passed")
    beside = sum(not verdict.optional for verdict in verdicts) - len(judged)
    left_out = f"; {beside} not counted, since not judged" if beside else ""
    is_guessed = any(verdict.guessed and (verdict.weight or verdict.gate) for verdict in judged)
    on_guess = _GUESSED if is_guessed else ""
    return won / total, f"{won / total:g}: passed {won:g} of {total:g} by weight{left_out}{on_guess}", is_guessed


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
