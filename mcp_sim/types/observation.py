"""What does an agent get for a call?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Literal

from mcp_sim.types.json_text import encode
from mcp_sim.types.values import Json, Record


@dataclass(frozen=True)
class ToolResult:
    """A result as MCP knows it: ONE value, from which text and structuredContent are both rendered.

    `form` says how it goes out: `structured` (the value as structuredContent, and its JSON as text), `json` (its JSON
    as text only), `text` (a string as text only), `blocks` (a list of MCP content blocks, passed on as they are).
    `text` replaces the rendered text where the two differ on purpose. A text that stands alone under `result`, as SDKs
    wrap what a tool returns, goes out bare.
    """

    value: Json
    form: Literal["structured", "json", "text", "blocks"] = "structured"
    is_error: bool = False
    text: str | None = None

    @cached_property
    def encoded(self) -> bytes:
        """The value as compact JSON: serialised once, for the wire and for the ledger."""
        return encode(self.value)

    @property
    def content(self) -> list[Record]:
        """The MCP content blocks: those given, or the value as one block of text."""
        if self.form == "blocks":
            return self.value
        return [{"type": "text", "text": self.text if self.text is not None else self._rendered}]

    @property
    def _rendered(self) -> str:
        match self.form, self.value:
            case "text", _:
                return self.value
            case "structured", {"result": str(text), **others} if not others:
                return text
            case _:
                return self.encoded.decode()


@dataclass(frozen=True, slots=True)
class RpcError:
    """A JSON-RPC error in place of a result."""

    code: int
    message: str
    data: Json = None


@dataclass(frozen=True, slots=True)
class BrokenDelivery:
    """No proper answer: `no_answer` (hangs), `closed`, `partial` (cut short), `http` (a status, no JSON-RPC).

    `garbled`: `body` comes where the message should. `ends_session`: the session of an older client ends with it.
    """

    how: Literal["no_answer", "closed", "partial", "http", "garbled"]
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    ends_session: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent gets for a call, when it gets it (`delay`, in world time), and what is sent beside it."""

    body: ToolResult | RpcError | BrokenDelivery
    delay: timedelta = timedelta(0)
    notifications: tuple[Record, ...] = ()

    @property
    def ok(self) -> bool:
        """True where the agent sees a success."""
        return isinstance(self.body, ToolResult) and not self.body.is_error
