"""There are more tools than are of any use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.types import Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.kinds import Listing, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count

MOST = 500
WAYS = (
    ("{name}_v2", "{description} Second version, with the same arguments."),
    ("legacy_{name}", "{description} Kept for older integrations."),
    ("{name}_preview", "{description} Preview: may change at any time."),
    ("quick_{name}", "{description} A faster variant."),
    ("{name}_internal", "{description} For internal use."),
    ("bulk_{name}", "{description} For many at once."),
)


@perturbations.register("distractor_tools")
class DistractorTools(Perturbation):
    """List tools beside the real ones that look like them and do nothing: near names, the same arguments.

    They are made of the tools in reach, drawn by the seed, and stand among them. A call of one is an error that says
    `message`; it changes nothing, and tells nothing of the world: an agent gets on with the real ones alone, so whoever
    judges a run sees whether it did. Calls of the real ones are as ever (`no_effect` in the ledger).

    It lasts: without `when` from the start; with `after`, `until` or `between` as long as they hold; with any other
    `when` from the first call of a tool in reach on for which it holds.
    """

    stage = Stage.CATALOGUE
    severities: ClassVar[tuple[str, ...]] = ("count",)

    count: Annotated[Count, Field(le=MOST)] = Field(default=5, description="How many there are.", examples=[5])
    message: str = Field(
        default="{name} is not available for this account",
        description="What a call of one is told; {name} is filled.",
    )
    announced: bool = Field(default=False, description="Are clients told that the list of tools has changed?")

    def announces(self) -> bool:
        return self.announced

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        models = [tool for tool in listing.tools if tool.id in listing.reach]
        chance = listing.draws.generator("distractors")
        made = list(_made(models, {tool.name for tool in listing.tools}))
        tools = list(listing.tools)
        for tool in chance.sample(made, min(self.count, len(made))):
            tools.insert(chance.randrange(len(tools) + 1), tool)
        return tools

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        return turn.no_effect(await proceed(turn))

    def answer_added(self, turn: Turn) -> Observation | None:
        name = turn.tool.name
        if not any(_is_made_in(way, name) for way, _ in WAYS):
            return None
        return Observation(ToolResult(self.message.replace("{name}", name), form="text", is_error=True))


def _made(models: Sequence[Tool], taken: set[str]) -> Iterator[Tool]:
    """All tools that can be made of these, under names that are free."""
    for model in models:
        for way, about in WAYS:
            name = way.format(name=model.name)
            if name in taken:
                continue
            description = about.replace("{description}", model.description).strip()
            kept = {key: value for key, value in model.definition.items() if key not in ("title", "outputSchema")}
            definition = {**kept, "name": name, "description": description}
            yield replace(model, id=f"{model.id.removesuffix(model.name)}{name}", definition=definition)


def _is_made_in(way: str, name: str) -> bool:
    before, _, after = way.partition("{name}")
    return name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
