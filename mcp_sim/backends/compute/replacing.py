"""What becomes of a text in which another is replaced, as long as that can be held?"""

from __future__ import annotations

from mcp_sim.backends.refusal import Refused

_LONGEST = 20_000_000


def replaced(text: str, old: str, new: str, most: int = -1) -> str:
    """The text with `old` replaced, at most so many times. Raises Refused where it would grow beyond all measure."""
    times = text.count(old) if most < 0 else most
    if len(new) > len(old) and len(text) + times * (len(new) - len(old)) > _LONGEST:
        raise Refused("invalid", f"The result is too long; at most {_LONGEST:,} characters are possible")
    return text.replace(old, new, most)
