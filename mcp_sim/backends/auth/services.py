"""Compare tools with the login of a service."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types.lexicon.english import vocabulary

STATES = vocabulary("status state check is verify logged authenticated")
ABOUT = vocabulary("login auth authentication session logged signed authenticated")
ALIKE = 20
"""The least likeness of a tool and the login of its service: the length of a common beginning of descriptions."""
_COMMON = STATES | ABOUT | vocabulary("log in authenticate")


def likeness(one: ToolProfile, login: ToolProfile) -> int:
    """Return how much a tool is like a login: by shared words of the names, and the beginning of the descriptions."""
    shared = set(one.words) & set(login.words) - _COMMON
    pairs = enumerate(zip(one.description, login.description, strict=False))
    shorter = min(len(one.description), len(login.description))
    return ALIKE * len(shared) + next((at for at, (sign, other) in pairs if sign != other), shorter)
