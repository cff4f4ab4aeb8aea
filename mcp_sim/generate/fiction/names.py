"""Invented names: syllables of a theme's sounds that spell nothing well known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias

Sound: TypeAlias = Literal["onset", "vowel", "coda"]
"""The parts of a syllable."""

_SHORTEST, _LONGEST = 5, 10
"""Letters of a word: shorter ones are common words too often, longer ones cannot be remembered."""
_CLOSED = 0.55
"""The share of syllables that end in a consonant; with many more, names become hard to read."""


class Names:
    """Draws words that were not drawn before. Each has two or three syllables."""

    def __init__(self, sounds: Mapping[Sound, Sequence[str]], random: Random) -> None:
        self._sounds, self._random = sounds, random
        self._taken = set[str](known_words())

    def word(self) -> str:
        """Return a new word, with a capital letter."""
        while True:
            syllables = self._random.choice((2, 2, 3))
            word = "".join(self._syllable() for _ in range(syllables))
            if _SHORTEST <= len(word) <= _LONGEST and word not in self._taken:
                self._taken.add(word)
                return word.capitalize()

    def _syllable(self) -> str:
        choice, sounds = self._random.choice, self._sounds
        coda = choice(sounds["coda"]) if self._random.random() < _CLOSED else ""
        return choice(sounds["onset"]) + choice(sounds["vowel"]) + coda


@cache
def known_words() -> frozenset[str]:
    """Return names of well-known places, people, companies and things, in lower case. No invented name equals one."""
    text = Path(__file__).with_name("known_names.txt").read_text(encoding="utf-8")
    return frozenset(word.casefold() for line in text.splitlines() if line[:1] != "#" for word in line.split())
