"""How agents repeat calls that a fault let fail: with the same idempotency key, a new one, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from mcp_sim.types import Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import READS
from mcp_sim.world.kept_answers import key_given, without_key
from mcp_sim.world.trace import observation_of

How: TypeAlias = Literal["same key", "new key", "no key", "not repeated"]
LOOKED = "looked first"


@frozen
class Retry:
    """What followed a call that failed by a fault. `call` is its number in the world."""

    fault: str
    call: int
    how: How
    looked: bool
    """Whether the agent read the entity before it repeated the call, or without repeating it."""


def find_retries(steps: Sequence[Record], domain: Domain) -> tuple[Retry, ...]:
    """Return what followed each call of a ledger that failed by a fault.

    A call is repeated by the next one of its tool with the same arguments; only the idempotency key may differ.
    """
    calls = [step for step in steps if step["entry"] == "call"]
    return tuple(
        Retry(decided["id"], call["index"], *_sequel(call, calls[place + 1 :], domain))
        for place, call in enumerate(calls)
        for decided in call["perturbations"]
        if decided["outcome"] == "applied" and not observation_of(call["served"] or call["truth"]["observation"]).ok
    )


def _sequel(call: Record, later: Sequence[Record], domain: Domain) -> tuple[How, bool]:
    """Return how a call was repeated, and whether its entity was read before that."""
    repeated = next(_repetitions(call, later, domain), None)
    before = later if repeated is None else later[: later.index(repeated)]
    looked = any(_reads_entity(between, call, domain) for between in before)
    if repeated is None:
        return "not repeated", looked
    first, second = (key_given(attempt["tool"], attempt["arguments"], domain) for attempt in (call, repeated))
    return ("no key" if second is None else "same key" if second == first else "new key"), looked


def _repetitions(call: Record, later: Iterable[Record], domain: Domain) -> Iterator[Record]:
    tool, arguments = call["tool"], without_key(call["tool"], call["arguments"], domain)
    return (
        step for step in later if step["tool"] == tool and without_key(tool, step["arguments"], domain) == arguments
    )


def _reads_entity(step: Record, call: Record, domain: Domain) -> bool:
    plan, meant = domain.plans.get(step["tool"]), domain.plans.get(call["tool"])
    if plan is None or meant is None or plan.entity is None:
        return False
    return any(
        variant.verb in READS and variant.entity in {other.entity for other in meant.variants}
        for variant in plan.variants
    )


def count_retries(retries: Iterable[Retry], fault: str) -> Counter[str]:
    """Count what followed the calls that failed by a fault. `looked first` counts beside the others."""
    mine = [retry for retry in retries if retry.fault == fault]
    return Counter([retry.how for retry in mine] + [LOOKED for retry in mine if retry.looked])


def retry_sentence(fault: str, counts: Counter[str]) -> str:
    """Render these counts: `Calls that failed by lost: 2 repeated with the same key, 1 not repeated`."""
    words = {"same key": "with the same key", "new key": "with a new key", "no key": "without a key"}
    ends = [f"{counts[how]} repeated {text}" for how, text in words.items() if counts[how]]
    ends += [f"{counts['not repeated']} not repeated"] if counts["not repeated"] else []
    times = "once" if counts[LOOKED] == 1 else f"{counts[LOOKED]} times"
    looked = f"; the agent looked first {times}" if counts[LOOKED] else ""
    return f"Calls that failed by {fault}: {', '.join(ends)}{looked}"
