"""Calls whose answers the given state determines: a program must not know less than the inferred plans do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from mcp_sim.recordings.compiling.probes import Probe, short
from mcp_sim.recordings.compiling.single_calls import usual_arguments
from mcp_sim.recordings.observed import Observed, leaves
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import Plan
from mcp_sim.world.world import World

_READS = frozenset({"get", "list", "search"})
_MOST_ROWS = 3
"""How many records of an entity are asked for by their keys. Each is a call of the program, and a program that finds
these finds the others."""
_LEAST = 3
"""The length from which a text of the given state is recognised in an answer. Shorter texts are in an answer by
chance."""
_MOST_NAMED = 3  # a complaint is one line of the prompt


async def determined_calls(probe: Probe, given: Json) -> list[Record]:
    """Return calls that plans answer from the given state, and what they show of it."""
    texts = {text for text in _texts(given) if len(text) >= _LEAST}
    calls = list[Record]()
    for plan in probe.domain.plans.values():
        if plan.verb not in _READS or plan.entity not in probe.filled:
            continue
        for arguments in _arguments(probe, plan):
            seen = await probe.call(plan.tool, arguments, probe.world.fork())
            argument_values = {leaf for _, leaf in leaves(arguments)}
            shown = (
                []
                if seen is None or seen.failed
                else [text for text in _texts(seen.value) if text in texts - argument_values]
            )
            if shown:
                calls.append({"tool": plan.tool, "arguments": arguments, "shows": [*dict.fromkeys(shown)]})
    return calls


def _arguments(probe: Probe, plan: Plan) -> Iterator[Record]:
    """Yield the arguments of a read: those that it needs, and for a get the keys of a few records."""
    schema = expanded(probe.domain.tools[plan.tool].input_schema)
    valid, usual = Validator(schema), usual_arguments(probe, plan)
    sets: list[Record] = [{}]
    if plan.verb == "get" and plan.key is not None and plan.entity is not None:
        keys = [key for key, _ in probe.world.view.rows(plan.entity)][:_MOST_ROWS]
        sets = [{**usual, plan.key: key} for key in keys]
    yield from (row for row in sets if not valid.problems(row))


async def check_determined(probe: Probe, start: World, calls: Iterable[Record]) -> None:
    """Check that a program answers what the given state determines, at the start or after the other calls."""
    for call in calls:
        tool, arguments, shows = call["tool"], call["arguments"], call["shows"]
        probe.checked(tool, "what is given")
        answers = [await probe.call(tool, arguments, world.fork()) for world in (start, probe.world)]
        seen = [answer for answer in answers if answer is not None]
        if seen and not any(_shows(observed, shows) for observed in seen):
            values = ", ".join(short(item) for item in shows[:_MOST_NAMED])
            what = "refused" if all(observed.failed for observed in seen) else "shows nothing of it"
            message = f"{tool}({short(arguments)}) answered {short(seen[0].value)}: the given state has {values}, and"
            probe.note(tool, "advice", f"{message} a guess from the tool list shows that; the program {what}")


def _shows(seen: Observed, values: Sequence[str]) -> bool:
    text = seen.value if isinstance(seen.value, str) else "\n".join(_texts(seen.value))
    return not seen.failed and any(value in text for value in values)


def _texts(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value, and the names in it but the outermost: they may be keys of records."""
    match value:
        case dict():
            for name, inner in cast("Record", value).items():
                if depth:
                    yield str(name)
                yield from _texts(inner, depth + 1)
        case list():
            for inner in cast("list[Json]", value):
                yield from _texts(inner, depth + 1)
        case str():
            yield value
        case _:
            pass
