"""Answers that are not valid protocol messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from mcp_sim.faults.results import jsonrpc_message, message_prefix
from mcp_sim.types import BrokenDelivery, Proceed, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import Perturbation, Stage, perturbations

PAGE = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    "<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>"
)
FOREIGN_ID = "00000000-0000-4000-8000-000000000000"


@perturbations.register("malformed_message")
class MalformedMessage(Perturbation):
    """Replace the answer with an invalid JSON-RPC message. The call takes effect.

    `cut`: the JSON ends too early. `html`: a web page of a gateway. `bare`: the result without the JSON-RPC envelope.
    `wrong_id`: a response to a request that was never sent. Over stdio no other response to the call follows; this
    requires the real clock.
    """

    stage = Stage.TRANSPORT

    form: Literal["cut", "html", "bare", "wrong_id"] = Field(
        default="cut", description="The form of the message.", examples=["html"]
    )

    def breaks(self) -> frozenset[str]:
        return frozenset({"garbled"})

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        observation = transition.observation
        if isinstance(observation.body, BrokenDelivery):
            return turn.no_effect(transition)
        broken = BrokenDelivery("garbled", body=self._text(observation.body, turn.chance("cut")))
        return replace(transition, observation=replace(observation, body=broken))

    def _text(self, body: ToolResult | RpcError, chance: float) -> str:
        match self.form:
            case "cut":
                return message_prefix(body, 0.2 + 0.6 * chance)
            case "html":
                return PAGE
            case "bare":
                whole = jsonrpc_message(body)
                return encode(whole.get("result", whole.get("error"))).decode()
            case "wrong_id":
                return encode({**jsonrpc_message(body), "id": FOREIGN_ID}).decode()
