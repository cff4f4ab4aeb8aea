"""Which records does a tool make whose name speaks of something else: a request, of `request_planning`?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from mcp_sim.infer.looks import Look
from mcp_sim.infer.subjects import names_key

_ONE = frozenset({"get", "update", "delete"})
_MAKES = r"\W*(?:register|create|start|submit|open|place|initiate|begin)(?:s)? (?:an? |the )?(?:new )?(?:\w+ )?"


def registered(look: Look, about: Mapping[str, Sequence[Look]], made: AbstractSet[str]) -> str | None:
    """What a tool is said to make, where others work on records of that and none is called after making them.

    Nobody else speaks of what this tool is called after.
    """
    told = (look.tool.description or "").lower()
    unmade = (name for name, mine in about.items() if name not in made and any(one.verb in _ONE for one in mine))
    found = [name for name in unmade if re.match(_MAKES + name.replace("_", " ") + r"\b", told)]
    return found[0] if len(found) == 1 and not names_key(look.input, found[0]) else None
