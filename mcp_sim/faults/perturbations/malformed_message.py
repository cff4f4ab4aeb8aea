"""What comes in place of the answer is no message of the protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from mcp_sim.faults.wire_messages import beginning, message
from mcp_sim.types import BrokenDelivery, Proceed, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.json_text import encode
from mcp_sim.types.kinds import Perturbation, Stage, perturbations

PAGE = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    "<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>"
)
FOREIGN_ID = "00000000-0000-4000-8000-000000000000"


@perturbations.register("malformed_message")
class MalformedMessage(Perturbation):
    """The call takes effect, but its answer is no JSON-RPC message, or not the one that was asked for.

    `cut`: the JSON ends too early. `html`: a web page, as of a gateway. `bare`: the result without the envelope of
    JSON-RPC. `wrong_id`: a whole answer, to a request that nobody made. The connection stays as it is. Over HTTP it
    comes with status 200 as JSON. Over stdio it comes as a line of its own, and no other answer to the call ever does,
    which takes the real clock. No effect where the answer is broken already.
    """

    stage = Stage.TRANSPORT

    form: Literal["cut", "html", "bare", "wrong_id"] = Field(
        default="cut", description="What comes in place of the answer.", examples=["html"]
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
                return beginning(body, 0.2 + 0.6 * chance)
            case "html":
                return PAGE
            case "bare":
                whole = message(body)
                return encode(whole.get("result", whole.get("error"))).decode()
            case "wrong_id":
                return encode({**message(body), "id": FOREIGN_ID}).decode()
