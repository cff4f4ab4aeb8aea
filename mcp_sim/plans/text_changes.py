"""Compare texts, and replace parts of them."""

from __future__ import annotations

from difflib import SequenceMatcher, ndiff, unified_diff

from mcp_sim.plans.refusal import Refused

_FEW_LINES = 200  # ndiff compares every pair of lines, and every pair of characters of similar ones
_FEW_CHARACTERS = 20_000
_MOST_PAIRS = 4_000_000  # SequenceMatcher is quadratic: one call must not hold the world for seconds


def line_diff(before: str, after: str) -> str:
    """Return the lines that only one of two texts has, each after `- ` or `+ `.

    In short texts, changed lines are paired. In texts too long to compare, everything between the common beginning and
    the common end counts as removed and added.
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) <= _FEW_LINES and len(before) + len(after) <= _FEW_CHARACTERS:
        return "\n".join(line for line in ndiff(old, new) if line[:2] in {"- ", "+ "})
    start = _common_lines(old, new)
    end = _common_lines(old[start:][::-1], new[start:][::-1])
    return "\n".join(_changed_lines(old[start : len(old) - end], new[start : len(new) - end]))


def patch(before: str, after: str, name: str) -> str:
    """Return a unified diff of the file of this name; without context if the texts are too long to compare."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > _MOST_PAIRS:
        return f"--- {name}\n+++ {name}\n{line_diff(before, after)}"
    return "\n".join(unified_diff(old, new, name, name, lineterm=""))


def _common_lines(old: list[str], new: list[str]) -> int:
    """Return the number of equal lines at the beginning."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (first, other) in enumerate(pairs) if first != other), min(len(old), len(new)))


def _changed_lines(old: list[str], new: list[str]) -> list[str]:
    whole = [("replace", 0, len(old), 0, len(new))]
    steps = SequenceMatcher(None, old, new).get_opcodes() if len(old) * len(new) <= _MOST_PAIRS else whole
    changed_lines: list[str] = []
    for kind, start, end, first, last in steps:
        if kind != "equal":
            changed_lines += [*(f"- {line}" for line in old[start:end]), *(f"+ {line}" for line in new[first:last])]
    return changed_lines


_MAX_TEXT = 20_000_000  # repeated replacing could fill the memory


def replace_text(text: str, old: str, new: str, most: int = -1) -> str:
    """Replace `old` in a text, at most `most` times (-1: always). Raises `Refused` if the result would be too long."""
    times = text.count(old) if most < 0 else most
    if len(new) > len(old) and len(text) + times * (len(new) - len(old)) > _MAX_TEXT:
        raise Refused("invalid", f"The result is too long; at most {_MAX_TEXT:,} characters are possible")
    return text.replace(old, new, most)
