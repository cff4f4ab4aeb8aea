"""Writers of text fields, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias, cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.codes import Codes, Shapes
from mcp_sim.generate.contacts import People
from mcp_sim.generate.places import Places
from mcp_sim.generate.prose import Prose
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Record

Write: TypeAlias = Callable[[Chance, Record, Moment], str]


class Writers:
    """The writers of one setting and one kind of record, each created at its first use."""

    def __init__(self, setting: Setting, noun: str) -> None:
        self._setting, self._noun = setting, noun

    @cached_property
    def people(self) -> People:
        return People(self._setting)

    @cached_property
    def places(self) -> Places:
        return Places(self._setting)

    @cached_property
    def codes(self) -> Codes:
        return Codes(self._setting, self._noun)

    @cached_property
    def shapes(self) -> Shapes:
        return Shapes(self._setting)

    @cached_property
    def prose(self) -> Prose:
        return Prose(self._setting, self._noun)

    def find(self, name: str) -> Write:
        """Return a writer by its name in `texts.json`.

        `words.colors` draws a word, `thing.ward` names a thing, `part.finish` is the value of an unknown field,
        `link.receipt_url` is an address.
        """
        group, _, kind = name.partition(".")
        match group:
            case "words":
                return one_of(word_list("words", kind))
            case "thing":
                return self.shapes.thing(kind)
            case "part":
                return self.shapes.part(kind)
            case "link":
                return self.codes.link(kind)
            case "email_of":
                return self.people.email_of(kind)
            case _:
                return cast("Write", getattr(getattr(self, group), kind))


def one_of(options: Sequence[str]) -> Write:
    """Return a writer that draws one of these words."""
    return lambda chance, _record, _moment: chance.choice(options)
