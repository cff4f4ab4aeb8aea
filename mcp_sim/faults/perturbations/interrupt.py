"""Notices that come in front of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from mcp_sim.faults.results import after_change, entity_of, missing
from mcp_sim.libraries.screens import NOTICE, notice_record, usual_notices
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

_Text = Annotated[str, Field(min_length=1, max_length=1_000)]


@perturbations.register("interrupt")
class Interrupt(Perturbation):
    """Put a notice in front of the screen right before a call, until one of its buttons is pressed.

    The call meets the notice: an element of the page behind it is not found, a tap hits the notice. The record of the
    notice (entity `screen_notice`) has the pressed button as `answer`. A captcha has a box that must be ticked first.
    No effect while an earlier notice waits.
    """

    stage = Stage.BEFORE

    kind: Literal["permission", "battery", "update", "cookies", "captcha", "notification"] = Field(
        default="notification", description="What the notice is about; sets its title, text and buttons."
    )
    title: _Text | None = Field(default=None, description="Another title.")
    text: _Text | None = Field(default=None, description="Another text.")
    buttons: Annotated[list[_Text], Field(min_length=1, max_length=10)] | None = Field(
        default=None, description="Other buttons.", examples=[["Allow once", "Never"]]
    )

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, NOTICE)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            notices = [record for _, record in turn.view.rows(entity)]
            if entity not in domain.entities or any(notice["answer"] is None for notice in notices):
                return turn.no_effect(await proceed(turn))
            usual = usual_notices()[self.kind]
            record = notice_record(
                1 + len(notices), self.kind, self.title or usual["title"], self.text or usual["text"],
                self.buttons or usual["buttons"], usual.get("check", ""),
            )  # fmt: skip
            return await after_change(turn, proceed, Change("put", entity, record["id"], record))

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, NOTICE, "screens")
