"""Answer the tools that take a thought."""

from __future__ import annotations

from mcp_sim.backends.rendering.outcomes import Operate, Outcome, as_text, compile_answer, done
from mcp_sim.backends.thinking_log.backend import LOG
from mcp_sim.types import Change, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool."""
    return compile_answer(tool, domain, _think(plan), {"answer": ("thought",)})


def _think(plan: Plan) -> Operate:
    arguments = plan.arguments

    def think(turn: Turn) -> Outcome:
        called = turn.call.arguments
        log: Record = turn.view.get(LOG, LOG) or {}
        kept = [*as_list(log.get("thoughts")), {name: value for name, value in called.items() if value is not None}]
        change = Change("put", LOG, LOG, {**log, "thoughts": kept}, expected=turn.view.version(LOG, LOG))
        if "number" not in arguments:
            return done(str(called.get(arguments["thought"]) or ""), change)
        number = called.get(arguments["number"])
        total = called.get(arguments.get("total", ""))
        raised = max(number, total) if isinstance(number, int) and isinstance(total, int) else total
        branches = dict.fromkeys(str(one[name]) for one in kept if (name := arguments.get("branch", "")) in one)
        facts = {
            arguments["number"]: number,
            **({arguments["total"]: raised} if "total" in arguments else {}),
            **({arguments["more"]: called.get(arguments["more"])} if "more" in arguments else {}),
            "branches": [*branches],
            "thought_history_length" if "_" in arguments["number"] else "thoughtHistoryLength": len(kept),
        }
        return Outcome(as_text(facts), facts, is_json=True, changes=(change,))

    return think
