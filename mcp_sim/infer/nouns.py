"""What do the tools speak of, and which entity does the name of a table mean?"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_sim.types.lexicon.words import singular, vocabulary, words

COLLECTIONS = vocabulary(
    "list map queue record records table history store db database collection data entries index dict registry log set"
)


@dataclass(frozen=True, slots=True)
class Nouns:
    """What the tools speak of: `names` of entities, the arguments that are whole numbers, and those that are texts.

    `bare` are arguments of tools whose results have an `id`, `shown` is what results have by their schemas.
    """

    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    def meant(self, name: str) -> str:
        """The entity that a table's name means: one that tools speak of, else what the name says."""
        parts = words(name)
        while len(parts) > 1 and parts[-1] in COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def speak_of(self, name: str) -> bool:
        return self.meant(name) in self.names
