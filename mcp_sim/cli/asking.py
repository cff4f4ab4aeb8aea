"""How often was a language model asked, how often need it not have been, and how often did it and the world differ?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_sim.types import Record


@dataclass(slots=True)
class Tally:
    """What the entries of a ledger say of a language model, counted as they pass by."""

    calls: int = 0
    asked: int = 0
    kept: int = 0
    needless: int = 0
    differed: int = 0
    repaired: int = 0
    again: int = 0
    fallbacks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    _knows: bool = False

    def note(self, entry: Record) -> None:
        """Count one more entry."""
        measured: Record = entry.get("measured") or {}
        if "asked" not in measured and "rejected" not in measured:
            return
        self._knows = True
        self.calls += 1
        self.asked += measured.get("asked") is True
        self.kept += measured.get("cached") is True
        self.needless += measured.get("open_fields") == 0
        self.differed += measured.get("differs") is True
        self.repaired += bool(measured.get("repaired"))
        self.again += bool(measured.get("rejected"))
        self.fallbacks += measured.get("fallback") is True
        self.prompt_tokens += measured.get("prompt_tokens", 0)
        self.completion_tokens += measured.get("completion_tokens", 0)

    def sentences(self) -> Iterator[str]:
        """What came of it; nothing where no language model answered."""
        if not self._knows:
            return
        yield (
            f"language model: asked at {self.asked} of {self.calls} calls ({self.kept} answers were kept from before), "
            f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        )
        yield (
            f"  {self.needless} needed no asking, as nothing was open; at {self.differed} of these it would have said "
            "something else than the world"
        )
        yield (
            f"  {self.repaired} answers were repaired from the world, {self.again} asked for again, "
            f"{self.fallbacks} given by the fallback"
        )
