"""Commands that the interpreter lacks, prints otherwise than GNU, or answers from the host instead of the world."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.libraries.shell.commands import (
    archives,
    chance,
    clock,
    compression,
    copying,
    differences,
    dumps,
    git,
    listing,
    looking,
    metadata,
    octal,
    paths,
    services,
    system,
    testing,
)
from mcp_sim.libraries.shell.commands.invocation import Body, Command, command

__all__ = ["COMMANDS", "Command"]

_MODULES = (
    archives,
    chance,
    clock,
    compression,
    copying,
    differences,
    dumps,
    git,
    listing,
    looking,
    metadata,
    octal,
    paths,
    services,
    system,
    testing,
)
_BODIES: Mapping[str, Body] = {name: body for module in _MODULES for name, body in module.BODIES.items()}

COMMANDS: Mapping[str, Command] = {name: command(body) for name, body in _BODIES.items()}
"""By name. They come before those of the interpreter."""
