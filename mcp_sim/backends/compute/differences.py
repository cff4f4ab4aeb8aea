"""In which lines do two texts differ?"""

from __future__ import annotations

from difflib import SequenceMatcher, ndiff, unified_diff

from mcp_sim.backends.refusal import Refused

_FEW_LINES = 200
_FEW_CHARACTERS = 20_000
_MOST_PAIRS = 4_000_000


def differing(before: str, after: str) -> str:
    """The lines that only one of two texts has, each behind `- ` or `+ `.

    Lines of short texts are set beside the one that they became. Of texts too long to compare, what stands between
    their common beginning and end is told as gone and come.
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) <= _FEW_LINES and len(before) + len(after) <= _FEW_CHARACTERS:
        return "\n".join(line for line in ndiff(old, new) if line[:2] in {"- ", "+ "})
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    return "\n".join(_told(old[start : len(old) - end], new[start : len(new) - end]))


def patch(before: str, after: str, name: str) -> str:
    """The same as a patch to the file of this name; of texts too long to compare, without what surrounds it."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > _MOST_PAIRS:
        return f"--- {name}\n+++ {name}\n{differing(before, after)}"
    return "\n".join(unified_diff(old, new, name, name, lineterm=""))


def _common(old: list[str], new: list[str]) -> int:
    """So many lines are the same from the beginning on."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def _told(old: list[str], new: list[str]) -> list[str]:
    whole = [("replace", 0, len(old), 0, len(new))]
    steps = SequenceMatcher(None, old, new).get_opcodes() if len(old) * len(new) <= _MOST_PAIRS else whole
    found: list[str] = []
    for kind, start, end, first, last in steps:
        if kind != "equal":
            found += [*(f"- {line}" for line in old[start:end]), *(f"+ {line}" for line in new[first:last])]
    return found


_LONGEST = 20_000_000


def replaced(text: str, old: str, new: str, most: int = -1) -> str:
    """The text with `old` replaced, at most so many times. Raises Refused where it would grow beyond all measure."""
    times = text.count(old) if most < 0 else most
    if len(new) > len(old) and len(text) + times * (len(new) - len(old)) > _LONGEST:
        raise Refused("invalid", f"The result is too long; at most {_LONGEST:,} characters are possible")
    return text.replace(old, new, most)
