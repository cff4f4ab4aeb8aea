"""Tools into which an agent writes what it thinks, step by step, and which count the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.matching.purposes import whole_purposes
from mcp_sim.backends.thinking_log.recognition import LOG, recognised
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, Survey, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("thinking_log")
class ThinkingLog(Backend):
    """A thought is kept; the answer tells its number, the branches, and how many there are by now.

    Known by an argument `thought` beside numbers that count (`thoughtNumber`, `totalThoughts`), or as the only thing
    that the tool takes. A number beyond the total raises the total.
    """

    order = 140

    def match(self, survey: Survey) -> Match | None:
        plans = [plan for purpose in survey.once(whole_purposes) if (plan := recognised(purpose)) is not None]
        anything: Record = {"type": ["array", "null"]}
        log = Entity(LOG, LOG, fields={"thoughts": Field("thoughts", anything)}, singleton=True)
        return Match(plans, [log], {LOG: [{"thoughts": []}]}, survey.state) if plans else None

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Nothing was thought before the world began."""
        begun: dict[str, Mapping[Key, Record]] = dict(tables)
        begun[LOG] = {LOG: {"thoughts": []}}
        return begun

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.thinking_log.answers import answer

        return answer(tool, plan, domain)
