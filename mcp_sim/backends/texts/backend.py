"""Tools that work on a text, or make one up: counts, cases, codes, matches, summaries, random numbers and ids."""

from __future__ import annotations

from mcp_sim.backends.matching.operations import chosen_among, recognised
from mcp_sim.backends.matching.purposes import Purpose, whole_purposes
from mcp_sim.backends.texts import chances, codes, matching, readings, texts
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.kinds import Answer, Backend, Match, Survey, backends
from mcp_sim.types.plans import Plan

_OPERATIONS = (*texts.OPERATIONS, *codes.OPERATIONS, *matching.OPERATIONS, *readings.OPERATIONS, *chances.OPERATIONS)


@backends.register("texts")
class Texts(Backend):
    """Counting, changing case, encoding, hashing; plainly, what a language model would do; chance.

    Summaries and keywords are taken from the text; a sentiment is judged by the words; a translation is the text
    itself, marked with the language. What such a tool tells is marked as guessed.
    Random values are the world's: the same seed and calls give the same ones.
    """

    order = 130

    def match(self, survey: Survey) -> Match | None:
        plans = [plan for purpose in survey.once(whole_purposes) if (plan := _plan(purpose)) is not None]
        return Match(plans, state=survey.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import computing

        return computing(tool, plan, domain, _OPERATIONS)


def _plan(purpose: Purpose) -> Plan | None:
    takes_text = any(main_type(schema) == "string" for schema in purpose.arguments.values())
    chosen = chosen_among(purpose, _OPERATIONS, "texts") if takes_text else None
    return chosen or recognised(purpose, _OPERATIONS, "texts")
