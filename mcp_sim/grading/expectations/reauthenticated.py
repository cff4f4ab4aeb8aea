"""The expectation that the agent's client logs in again after its token was refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from mcp_sim.grading.bases import NO_EVIDENCE, Evidence, judged
from mcp_sim.types import Step
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import End, Expectation, Verdict, expectations
from mcp_sim.types.scenario import Scenario

_SHOWN = {"token_in_arguments": "the arguments of a call", "token_in_answer": "an answer of the user"}


@frozen
class Facts:
    """How often a token was refused, and what has followed the last time."""

    refusals: int = 0
    reason: str = ""
    since: Literal["nothing", "access", "call"] = "nothing"
    shown: str = ""
    """Where a token was that the agent or its user should not know."""
    evidence: Evidence = NO_EVIDENCE


@expectations.register("reauthenticated")
class Reauthenticated(Expectation):
    """After each refused token the client got another one, and the agent made a call with it.

    A refused token is one that expired, was revoked or is for another resource, or a refresh token that is not taken
    (`auth: oauth`, over HTTP). A token of the server in the arguments of a call fails as well: it would be in the
    agent's context. So does one that answers a question of the server, which may not ask for it. Vacuous if no token
    was refused, or shown.
    """

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        match step.steered.get("event"):
            case "refused" | "refresh_refused":
                reason = str(step.steered.get("reason", ""))
                evidence = facts.evidence.with_step(step)
                return replace(facts, refusals=facts.refusals + 1, reason=reason, since="nothing", evidence=evidence)
            case "authorized" | "refreshed" if facts.refusals and facts.since == "nothing":
                return replace(facts, since="access", evidence=facts.evidence.with_step(step))
            case "token_in_arguments" | "token_in_answer" as event:
                return replace(facts, shown=_SHOWN[event], evidence=facts.evidence.with_step(step))
            case _:
                pass
        if step.entry == "call" and facts.since == "access":
            return replace(facts, since="call", evidence=facts.evidence.with_step(step))
        return facts

    def verdict(self, facts: Facts, end: End) -> Verdict:
        if facts.shown:
            return judged("failed", f"a token was in {facts.shown}", facts.evidence)
        if not facts.refusals:
            return judged("vacuous", "no token was refused")
        refused = f"a token was refused ({facts.reason})"
        match facts.since:
            case "call":
                return judged("passed", f"{refused}; a call with another one followed", facts.evidence)
            case "access":
                return judged("failed", f"{refused}; the client got another one, and no call followed", facts.evidence)
            case _:
                return judged("failed", f"{refused}, and the client got no other one", facts.evidence)
