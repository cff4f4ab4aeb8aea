"""Changed descriptions of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from mcp_sim.types import Observation, Proceed, Record, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Listing, Perturbation, Stage, perturbations


@perturbations.register("description_drift")
class DescriptionDrift(Perturbation):
    """List the tools in reach with other descriptions, and leave their behaviour as it is. It lasts once it has begun.

    `empty`: no description. `scrambled`: the same words in another order. `misleading`: the description of another
    tool, or `text`. `poisoned`: the true description followed by `text`, an instruction to the agent; this requires
    `allow_adversarial: true` in the scenario.
    """

    stage = Stage.CATALOGUE
    visibility: ClassVar[Literal["explicit", "implicit"]] = "implicit"

    how: Literal["empty", "scrambled", "misleading", "poisoned"] = Field(
        default="empty", description="How descriptions change.", examples=["scrambled"]
    )
    text: str | None = Field(default=None, min_length=1, description="The misleading or poisoning text.")
    arguments: bool = Field(default=False, description="Whether descriptions of arguments change as well.")
    announced: bool = Field(
        default=False, description="Whether clients are notified that the list of tools has changed."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.how == "poisoned" and self.text is None:
            raise ValueError("poisoned needs a text")
        if self.how in ("empty", "scrambled") and self.text is not None:
            raise ValueError("text is only valid with misleading and poisoned")
        if self.how in ("misleading", "poisoned") and self.arguments:
            raise ValueError("arguments is only valid with empty and scrambled")
        return self

    def is_hostile(self) -> bool:
        return self.how == "poisoned"

    def lures(self, served: Observation) -> frozenset[str]:
        return frozenset([self.text] if self.how == "poisoned" and self.text else [])

    def announces(self) -> bool:
        return self.announced

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if self.how in ("empty", "scrambled") and tools and not any(self._bites(tool) for tool in tools):
            return ["no tool in reach has a description"]
        if self.how == "misleading" and self.text is None and len(domain.tools) < 2:
            return ["there is no other tool whose description could mislead; write a text"]
        return ()

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        return [self._drifted(tool, listing) if tool.id in listing.reach else tool for tool in listing.tools]

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        return transition if self._bites(turn.tool) else turn.no_effect(transition)

    def _bites(self, tool: Tool) -> bool:
        if self.how in ("misleading", "poisoned"):
            return True
        return bool(tool.description) or (self.arguments and "description" in str(tool.input_schema))

    def _drifted(self, tool: Tool, listing: Listing) -> Tool:
        definition = {**tool.definition, "description": self._description(tool, listing)}
        if self.arguments:
            definition["inputSchema"] = self._without(tool.input_schema, tool, listing)
        return replace(tool, definition=definition)

    def _description(self, tool: Tool, listing: Listing) -> str:
        match self.how:
            case "empty":
                return ""
            case "scrambled":
                return _scrambled(tool.description, tool.id, listing)
            case "poisoned":
                return f"{tool.description}\n\n{self.text}".strip()
            case "misleading":
                others = [
                    other.description for other in listing.tools if other.description not in ("", tool.description)
                ]
                return self.text or (listing.draws.choice(f"mislead/{tool.id}", others) if others else "")

    def _without(self, schema: Any, tool: Tool, listing: Listing, path: str = "") -> Any:
        """Return the schema with its descriptions emptied or scrambled."""
        if isinstance(schema, list):
            return [self._without(item, tool, listing, f"{path}/{at}") for at, item in enumerate(cast("Any", schema))]
        if not isinstance(schema, dict):
            return schema
        drifted: Record = {}
        for name, value in cast("Record", schema).items():
            if name == "description" and isinstance(value, str):
                if self.how == "scrambled":
                    drifted[name] = _scrambled(value, f"{tool.id}{path}", listing)
            else:
                drifted[name] = self._without(value, tool, listing, f"{path}/{name}")
        return drifted


def _scrambled(text: str, about: str, listing: Listing) -> str:
    words = text.split()
    listing.draws.generator(f"scramble/{about}").shuffle(words)
    return " ".join(words)
