"""Tools that work on a text, or make one up: counts, cases, codes, hashes, summaries, random numbers and ids."""

from __future__ import annotations

from mcp_sim.abilities.texts import OPERATIONS
from mcp_sim.claiming.computed import chosen_among, computing, recognised
from mcp_sim.claiming.traits import Traits, traits_of
from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, behaviours
from mcp_sim.schemas import main_type
from mcp_sim.types import Tool


@behaviours.register("texts")
class Texts(Behaviour):
    """Counting, changing case, encoding, hashing; plainly, what a language model would do; chance.

    Summaries and keywords are taken from the text; a sentiment is judged by the words; a translation is the text
    itself, marked with the language. Random values are the world's: the same seed and calls give the same ones.
    """

    def claims(self, survey: Survey) -> Claims | None:
        plans = [plan for traits in traits_of(survey.tools) if (plan := _plan(traits)) is not None]
        return Claims(plans, state=survey.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        return computing(tool, plan, domain, OPERATIONS)


def _plan(traits: Traits) -> Plan | None:
    found = recognised(traits, OPERATIONS, "texts")
    if found is not None:
        return found
    takes_text = any(main_type(schema) == "string" for schema in traits.arguments.values())
    return chosen_among(traits, OPERATIONS, "texts") if takes_text else None
