"""Match tools that process or generate texts: counts, cases, codes, matches, summaries, random numbers and ids."""

from __future__ import annotations

from mcp_sim.backends.matching.operations import chosen_among, recognised
from mcp_sim.backends.matching.tool_profiles import Purpose, whole_purposes
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
        plans = [plan for purpose in evidence.once(whole_purposes) if (plan := _plan(purpose)) is not None]
        return Match(plans, state=evidence.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import computing

        return computing(tool, plan, domain, _OPERATIONS)


def _plan(purpose: Purpose) -> Plan | None:
    takes_text = any(main_type(schema) == "string" for schema in purpose.arguments.values())
    chosen = chosen_among(purpose, _OPERATIONS, "texts") if takes_text else None
    return chosen or recognised(purpose, _OPERATIONS, "texts")
