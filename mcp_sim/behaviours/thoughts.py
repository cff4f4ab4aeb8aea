"""Tools into which an agent writes what it thinks, step by step, and which count the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.claiming.arguments import kinds_of
from mcp_sim.claiming.operations import plan_of
from mcp_sim.claiming.outcomes import Operate, Outcome, answering, done, plain
from mcp_sim.claiming.purposes import Purpose, whole_purposes
from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, Tables, behaviours
from mcp_sim.schemas import as_list
from mcp_sim.types import Change, Key, Record, Tool, Turn
from mcp_sim.words import snake

_LOG = "thinking"
_THOUGHTS = frozenset({"thought", "thoughts", "reasoning", "reflection"})


@behaviours.register("thoughts")
class Thoughts(Behaviour):
    """A thought is kept; the answer tells its number, the branches, and how many there are by now.

    Known by an argument `thought` beside numbers that count (`thoughtNumber`, `totalThoughts`), or as the only thing
    that the tool takes. A number beyond the total raises the total.
    """

    def claims(self, survey: Survey) -> Claims | None:
        plans = [plan for purpose in survey.once(whole_purposes) if (plan := _plan(purpose)) is not None]
        anything: Record = {"type": ["array", "null"]}
        log = Entity(_LOG, _LOG, fields={"thoughts": Field("thoughts", anything)}, singleton=True)
        return Claims(plans, [log], {_LOG: [{"thoughts": []}]}, survey.state) if plans else None

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Nothing was thought before the world began."""
        begun: dict[str, Mapping[Key, Record]] = dict(tables)
        begun[_LOG] = {_LOG: {"thoughts": []}}
        return begun

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        return answering(tool, domain, _thinking(plan), {"answer": ("thought",)})


def _plan(purpose: Purpose) -> Plan | None:
    thought = purpose.argument(_THOUGHTS, ("string",))
    if thought is None:
        return None
    named = {snake(name): name for name in purpose.arguments}
    roles = {
        "number": next((named[name] for name in ("thought_number", "step_number", "step") if name in named), None),
        "total": next((named[name] for name in ("total_thoughts", "total_steps") if name in named), None),
        "more": next((name for name in purpose.arguments if "needed" in snake(name)), None),
        "branch": named.get("branch_id"),
    }
    counts = roles["number"] is not None and kinds_of(purpose.arguments[roles["number"]]) & {"integer", "number"}
    if not counts and not (len(purpose.arguments) == 1 and purpose.says("think", "thinking", "thought")):
        return None
    arguments = {"thought": thought, **{role: name for role, name in roles.items() if name is not None}}
    reasons = (f"'{thought}' is written down and counted",)
    return plan_of(purpose, "think", "thoughts", arguments, 0.85, reasons, verb="update", entity=_LOG)


def _thinking(plan: Plan) -> Operate:
    arguments = plan.arguments

    def think(turn: Turn) -> Outcome:
        called = turn.call.arguments
        log: Record = turn.view.get(_LOG, _LOG) or {}
        kept = [*as_list(log.get("thoughts")), {name: value for name, value in called.items() if value is not None}]
        change = Change("put", _LOG, _LOG, {**log, "thoughts": kept}, expected=turn.view.version(_LOG, _LOG))
        if "number" not in arguments:
            return done(called[arguments["thought"]], change)
        number = called.get(arguments["number"])
        total = called.get(arguments.get("total", ""))
        raised = max(number, total) if isinstance(number, int) and isinstance(total, int) else total
        branches = dict.fromkeys(str(one[name]) for one in kept if (name := arguments.get("branch", "")) in one)
        told = {
            arguments["number"]: number,
            **({arguments["total"]: raised} if "total" in arguments else {}),
            **({arguments["more"]: called.get(arguments["more"])} if "more" in arguments else {}),
            "branches": [*branches],
            "thoughtHistoryLength": len(kept),
        }
        return Outcome(plain(told), told, is_json=True, changes=(change,))

    return think
