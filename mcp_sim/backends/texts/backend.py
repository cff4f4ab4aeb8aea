"""Match tools that process or generate texts: counts, cases, codes, matches, summaries, random numbers and ids."""

from __future__ import annotations

from mcp_sim.backends.matching.operations import match_operation, match_selector
from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_of_tools
from mcp_sim.backends.texts import editing, encoding, language, randomness, regular_expressions
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan

_OPERATIONS = (
    *editing.OPERATIONS,
    *encoding.OPERATIONS,
    *regular_expressions.OPERATIONS,
    *language.OPERATIONS,
    *randomness.OPERATIONS,
)


@backends.register("texts")
class Texts(Backend):
    """Counting, changing case, encoding, hashing; simple summaries, sentiment and translation; random values.

    Summaries and keywords are extracted from the text. Sentiment is judged by single words. A translation is the text
    itself, marked with the language. These results are marked as guessed. Random values depend on the world's seed and
    the calls only.
    """

    order = 130

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for profile in evidence.once(profiles_of_tools) if (plan := _plan(profile)) is not None]
        return Match(plans, state=evidence.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import compile_operation

        return compile_operation(tool, plan, domain, _OPERATIONS)


def _plan(profile: ToolProfile) -> Plan | None:
    takes_text = any(main_type(schema) == "string" for schema in profile.arguments.values())
    chosen = match_selector(profile, _OPERATIONS, "texts") if takes_text else None
    return chosen or match_operation(profile, _OPERATIONS, "texts")
