"""What was said in a world so far: turns that are only ever appended, shared between a world and its forks."""

from __future__ import annotations

from collections.abc import Callable
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

    @property
    def own(self) -> int:
        """The characters of this turn alone."""
        return len(self.user) + len(self.assistant)

    def turns(self) -> list[Said]:
        """All turns, oldest first."""
        found = list[Said]()
        said: Said | None = self
        while said is not None:
            found.append(said)
            said = said.before
        return found[::-1]


def appended(before: Said | None, index: int, user: str, assistant: str, changes: tuple[Change, ...]) -> Said:
    """The transcript with one more turn."""
    size = len(user) + len(assistant)
    return Said(index, user, assistant, changes, before, size + (before.size if before else 0))


def fitting(
    said: Said | None, most: int, retold: Callable[[int], tuple[str, str]], *, at_once: bool = False
) -> Said | None:
    """The transcript where it has at most `most` characters; else a shorter one, in one big step.

    Each time that old turns go, an engine's prefix cache is lost: so half of the room is left free. A quarter is for
    the newest turns, a quarter for what is `retold` of the state in the place of the old ones (given the characters
    that it may have). `at_once`: shorten it, even if it seems to fit.
    """
    if said is None or (said.size <= most and not at_once):
        return said
    most = min(most, said.size)
    user, assistant = retold(most // 4)
    turns = said.turns()
    kept = list[Said]()
    for turn in reversed(turns):
        if sum(one.own for one in kept) + turn.own > most // 4:
            break
        kept.append(turn)
    last_dropped = turns[len(turns) - len(kept) - 1] if len(kept) < len(turns) else turns[0]
    shortened = appended(None, last_dropped.index, user, assistant, last_dropped.changes)
    for turn in reversed(kept):
        shortened = appended(shortened, turn.index, turn.user, turn.assistant, turn.changes)
    return shortened
