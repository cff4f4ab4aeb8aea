"""What do all parts of the server know of a request?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext

from mcp_sim.types import BrokenDelivery
from mcp_sim.world import World

Context: TypeAlias = ServerRequestContext[Any, Any]

WorldOf: TypeAlias = Callable[[Context], Awaitable[World]]
"""Which world does a request belong to?"""

Break: TypeAlias = Callable[[Context, BrokenDelivery], Awaitable[None]]
"""Breaks the delivery of an answer, as far as the transport can; it may return once there is nothing left to answer."""

Splice: TypeAlias = Callable[[Context], Callable[[bytes], None] | None]
"""What takes a result as JSON text, where the transport can put it into an answer whose result is empty."""
