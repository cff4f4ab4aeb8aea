"""How is a name or a code written of which the form is known, and what is written where nothing is known but a word?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mcp_sim.generate import wordlists as w
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.pools import pool
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.things import PARTS, THINGS
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Record
from mcp_sim.types.lexicon.words import singular

_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_SLOT = re.compile(r"\{(city|stem|year)\}|CC|[~#@]")

Write = Callable[[Chance, Record, Moment], str]


class Shapes:
    """Writers of forms in one setting."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def one_of(self, forms: Sequence[str]) -> Write:
        """One of these forms, its slots filled."""
        plain = [_SLOT.search(form) is None for form in forms]

        def write(chance: Chance, record: Record, moment: Moment) -> str:
            place = chance.below(len(forms))
            return forms[place] if plain[place] else self._filled(forms[place], chance, record, moment)

        return write

    def thing(self, noun: str) -> Write:
        """What a thing of this kind is called: `Cardiology` for a ward, `Kestrel portal` where nothing is known."""
        known = THINGS.get(noun) or THINGS.get(noun.rsplit("_", 1)[-1])
        if known is None and not noun.isascii():
            return _numbered(noun)
        return self.one_of(known or (f"{{stem}} {noun.replace('_', ' ')}",))

    def part(self, name: str) -> Write:
        """What stands in a field of which nothing is known but its name: `Standard finish`."""
        said = singular(name.rsplit("_", 1)[-1])
        if not said.isascii():
            return _numbered(said)
        return lambda chance, _record, _moment: f"{chance.choice(PARTS).capitalize()} {said}"

    def _filled(self, form: str, chance: Chance, record: Record, moment: Moment) -> str:
        def filled(found: re.Match[str]) -> str:
            match found[0]:
                case "{city}":
                    told = record.get("city")
                    return told if isinstance(told, str) else chance.choice(pool(self._setting.locale.code).cities)
                case "{stem}":
                    return chance.choice(w.COMPANY_STEMS)
                case "{year}":
                    return str(moment.born.year)
                case "CC":
                    return self._setting.locale.country_code
                case "@":
                    return chance.choice(_LETTERS)
                case sign:
                    return str(chance.between(int(sign == "~"), 9))

        return _SLOT.sub(filled, form)


def _numbered(noun: str) -> Write:
    """What is called so in a language of which no more is known."""
    return lambda chance, _record, _moment: f"{noun.replace('_', ' ')} {chance.between(1, 99)}"
