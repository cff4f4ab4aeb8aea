"""Who writes the texts of records: one writer for each sort of text, in a setting and for a kind of record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from mcp_sim.generate.addresses import Addresses
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.codes import Codes
from mcp_sim.generate.people import People
from mcp_sim.generate.prose import Prose
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.shapes import Shapes
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Record
from mcp_sim.types.lexicon.words import vocabulary

Write: TypeAlias = Callable[[Chance, Record, Moment], str]

_TALK = vocabulary("comment message reply note reaction chat post thread")


class Writers:
    """The writers of one setting and one kind of record, each made when a field first asks for it."""

    def __init__(self, setting: Setting, noun: str) -> None:
        self._setting, self.noun = setting, noun

    @cached_property
    def people(self) -> People:
        return People(self._setting)

    @cached_property
    def places(self) -> Addresses:
        return Addresses(self._setting)

    @cached_property
    def codes(self) -> Codes:
        return Codes(self._setting, self.noun)

    @cached_property
    def shapes(self) -> Shapes:
        return Shapes(self._setting)

    @cached_property
    def prose(self) -> Prose:
        return Prose(self._setting, self.noun)

    @property
    def talk(self) -> Write:
        """What people say where they talk, else a text."""
        return self.prose.line if self.noun.rsplit("_", 1)[-1] in _TALK else self.prose.text


Find: TypeAlias = Callable[[Writers], Write]


def one_of(options: Sequence[str]) -> Write:
    """One of these words."""
    return lambda chance, _record, _moment: chance.choice(options)
