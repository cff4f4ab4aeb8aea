"""Useless tools beside the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.types import Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.kinds import Listing, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count

MOST = 500  # listing more costs every client more than any real catalogue
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
    """List additional tools with similar names and the same arguments, which do nothing. It lasts once it has begun.

    They are copies of random tools in reach, at random places of the list. A call of one is an error with `message`.
    """

    stage = Stage.CATALOGUE
    severities: ClassVar[tuple[str, ...]] = ("count",)

    count: Annotated[Count, Field(le=MOST)] = Field(default=5, description="Number of additional tools.", examples=[5])
    message: str = Field(
        default="{name} is not available for this account",
        description="The error text of their calls, with the placeholder {name}.",
    )
    announced: bool = Field(
        default=False, description="Whether clients are notified that the list of tools has changed."
    )

    def announces(self) -> bool:
        return self.announced

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        models = [tool for tool in listing.tools if tool.id in listing.reach]
        chance = listing.draws.generator("distractors")
        # All tools that can be derived from these, under free names.
        taken = {tool.name for tool in listing.tools}
        copies = list[Tool]()
        for model in models:
            for way, about in WAYS:
                name = way.format(name=model.name)
                if name in taken:
                    continue
                description = about.replace("{description}", model.description).strip()
                kept = {key: value for key, value in model.definition.items() if key not in ("title", "outputSchema")}
                definition = {**kept, "name": name, "description": description}
                copies.append(replace(model, id=f"{model.id.removesuffix(model.name)}{name}", definition=definition))
        tools = list(listing.tools)
        for tool in chance.sample(copies, min(self.count, len(copies))):
            tools.insert(chance.randrange(len(tools) + 1), tool)
        return tools

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        return turn.no_effect(await proceed(turn))

    def answer_added(self, turn: Turn) -> Observation | None:
        name = turn.tool.name
        if not any(_is_made_in(way, name) for way, _ in WAYS):
            return None
        return Observation(ToolResult(self.message.replace("{name}", name), form="text", is_error=True))


def _is_made_in(way: str, name: str) -> bool:
    before, _, after = way.partition("{name}")
    return name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
