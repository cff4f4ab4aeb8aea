"""Commands that the interpreter lacks, prints otherwise than GNU, or answers from the host instead of the world."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.libraries.shell.commands import (
    archives,
    clock,
    copying,
    differences,
    dumps,
    generating,
    git,
    listing,
    looking,
    services,
    system,
    testing,
)
from mcp_sim.libraries.shell.commands.invocation import Body

__all__ = ["COMMANDS", "Body"]

_MODULES = (
    archives, clock, copying, differences, dumps, generating, git, listing, looking, services, system, testing,
)  # fmt: skip
COMMANDS: Mapping[str, Body] = {name: body for module in _MODULES for name, body in module.BODIES.items()}
"""By name. They come before those of the interpreter."""
