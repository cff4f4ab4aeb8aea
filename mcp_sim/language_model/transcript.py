"""What was said in a world so far: turns that are only ever appended, shared between a world and its forks."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_sim.types import Change


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Said:
    """One turn, and the turns before it. `changes` is what the turn was expected to write; `size` counts characters."""

    index: int
    user: str
    assistant: str
    changes: tuple[Change, ...]
    before: Said | None
    size: int

    def turns(self) -> list[Said]:
        """All turns, oldest first."""
        found = list[Said]()
        said: Said | None = self
        while said is not None:
            found.append(said)
            said = said.before
        return found[::-1]


def appended(
    before: Said | None, index: int, user: str, assistant: str, changes: tuple[Change, ...], most: int
) -> Said:
    """The transcript with one more turn. Beyond `most` characters the older half goes, in one step: each time that old
    turns go, an engine's prefix cache is lost."""
    size = len(user) + len(assistant)
    if before is not None and before.size + size > most:
        before = _newest(before, most // 2)
    return Said(index, user, assistant, changes, before, size + (before.size if before else 0))


def _newest(said: Said, most: int) -> Said | None:
    """The newest turns that fit into `most` characters."""
    kept: Said | None = None
    for turn in said.turns():
        own = len(turn.user) + len(turn.assistant)
        if said.size - turn.size + own <= most:
            kept = Said(turn.index, turn.user, turn.assistant, turn.changes, kept, own + (kept.size if kept else 0))
    return kept
