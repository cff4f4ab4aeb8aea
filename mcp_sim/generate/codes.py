"""Generate codes such as SKUs, hashes, versions, paths and file names, and names of things."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from uuid import UUID

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.setting import Setting, name_pool
from mcp_sim.generate.shipped_data import load, word_list, word_set
from mcp_sim.generate.time_fields import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import plural, singular, snake

Write = Callable[[Chance, Record, Moment], str]
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


class Codes:
    """Writers of codes, files and products in one setting."""

    def __init__(self, setting: Setting, noun: str) -> None:
        self._theme = setting.theme
        self._locale = setting.locale
        self._noun = noun
        self._prefix = "".join(piece[0] for piece in noun.split("_") if piece).upper()

    def sku(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return three consonants of the record's name and a number."""
        label: Json = next((record[name] for name in ("name", "title", "category", "product") if record.get(name)), "")
        head = "".join(letter for letter in str(label).upper() if letter in _LETTERS and letter not in "AEIOU")[:3]
        return f"{head if len(head) == 3 else self._letters(chance, 3)}-{chance.below(10000):04d}"

    def code(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"{self._letters(chance, 3)}-{chance.below(10000):04d}"

    def number(self, chance: Chance, _record: Record, moment: Moment) -> str:
        """Return a number as on invoices and orders, with the year of creation."""
        return f"{self._prefix}-{moment.created.year}-{chance.below(100000):05d}"

    def barcode(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return _with_check(f"20{chance.below(10**5):05d}{chance.below(10**5):05d}")

    def isbn(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return _with_check(f"9780{chance.below(10**4):04d}{chance.below(10**4):04d}")

    def hash(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return _hex(chance, 40)

    def uuid(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return str(UUID(hex=_hex(chance, 32), version=4))

    def link(self, name: str) -> Write:
        """Return a writer of addresses of a record and its files: `https://app.example/receipts/9f31.pdf`."""
        word = re.sub(r"_?(ur[li]|link|href)s?$", "", name).rsplit("_", 1)[-1]
        is_own = not word or word in word_set("nouns", "own_links")
        about = self._noun if is_own else word
        ending = next((f".{end}" for end, parts in load("texts")["endings"].items() if word in parts), "")

        def write(chance: Chance, record: Record, _moment: Moment) -> str:
            title: Json = next((record[field] for field in ("slug", "title", "name") if record.get(field)), None)
            title_slug = slug(title, "-")[:60].rstrip("-") if is_own and isinstance(title, str) else ""
            return f"https://app.example/{slug(_several(about), '-')}/{title_slug or _hex(chance, 12)}{ending}"

        return write

    def file_name(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"{self._matter(chance)}-{chance.between(1, 12):02d}.{chance.choice(word_list('words', 'file_endings'))}"

    def _matter(self, chance: Chance) -> str:
        return slug(chance.choice(self._theme.matters).removeprefix("the "), "-")

    def path(self, chance: Chance, record: Record, moment: Moment) -> str:
        return f"/{slug(chance.choice(self._theme.kinds), '-')}/{self.file_name(chance, record, moment)}"

    def folder(self, chance: Chance, _record: Record, moment: Moment) -> str:
        year = moment.created.year - chance.below(2)
        return f"/{slug(chance.choice(self._theme.kinds), '-')}/{year}"

    def slugged(self, chance: Chance, record: Record, _moment: Moment) -> str:
        title: Json = record.get("title") or record.get("name")
        result = slug(title, "-") if isinstance(title, str) else ""
        return result or self._matter(chance)

    def channel(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        if chance.unit() < 0.5:
            return f"{chance.choice(('team', 'proj', 'help'))}-{slug(chance.choice(self._theme.kinds), '-')}"
        return self._matter(chance)

    def branch(self, chance: Chance, record: Record, moment: Moment) -> str:
        return f"{chance.choice(('feature', 'fix', 'chore'))}/{self.channel(chance, record, moment)}"

    def version(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"{chance.between(1, 5)}.{chance.below(12)}.{chance.below(20)}"

    def clock_time(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"{chance.between(8, 18):02d}:{15 * chance.below(4):02d}"

    def duration(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"PT{5 * chance.between(1, 18)}M"

    def ip(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"192.0.2.{chance.between(1, 254)}"

    def ipv6(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return f"2001:db8::{chance.between(1, 9999):x}"

    def product(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        good = chance.choice(self._theme.goods)
        kind = chance.unit()
        if kind < 0.35:
            return good[:1].upper() + good[1:]
        product = f"{chance.choice(word_list('words', 'product_styles'))} {good}"
        return product if kind < 0.75 else f"{product} {chance.choice(word_list('words', 'product_marks'))}"

    def category(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return chance.choice(self._theme.kinds)

    def _letters(self, chance: Chance, count: int) -> str:
        return "".join([chance.choice(_LETTERS) for _ in range(count)])


def _several(noun: str) -> str:
    """Return the plural of a noun; words like `news` stay as they are."""
    return noun if noun.endswith("s") and singular(noun) == noun else plural(noun)


def _with_check(digits: str) -> str:
    """Return a barcode: twelve digits and their check digit."""
    total = sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def _hex(chance: Chance, digits: int) -> str:
    text = "".join([f"{chance.below(1 << 32):08x}" for _ in range(-(-digits // 8))])
    return text[:digits]


@cache
def things() -> dict[str, tuple[str, ...]]:
    """Return names of things, by noun.

    In a name, `{city}` and `{stem}` are slots for a city and a proper name, `~` is a digit from 1 to 9, `#` any digit.
    """
    return {noun: tuple(kind["names"]) for kind in load("things") for noun in kind["nouns"]}


_TYPES = ("type", "category", "kind")
_SLOT = re.compile(r"\{(city|stem|year)\}|CC|[~#@]")


class Shapes:
    """Writers of names of things in one setting, from templates with slots."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def one_of(self, forms: Sequence[str]) -> Write:
        """Return a writer of one of these templates, with its slots filled."""
        plain = [_SLOT.search(form) is None for form in forms]

        def write(chance: Chance, record: Record, moment: Moment) -> str:
            place = chance.below(len(forms))
            return forms[place] if plain[place] else self._filled(forms[place], chance, record, moment)

        return write

    def thing(self, noun: str) -> Write:
        """Return a writer of names of this kind: `Cardiology` for a ward, `Kestrel portal` for an unknown kind.

        A record of an unknown kind or a place with a type is named after that: `Golden Dragon` for a restaurant.
        """
        known = things().get(noun) or things().get(noun.rsplit("_", 1)[-1])
        if known is None and not noun.isascii():
            return _numbered(noun)
        usual = self.one_of(known or (f"{{stem}} {noun.replace('_', ' ')}",))
        if known is not None and known is not things()["place"]:
            return usual

        def typed(chance: Chance, record: Record, moment: Moment) -> str:
            kind = next((value for name in _TYPES if isinstance(value := record.get(name), str) and value), None)
            forms = things().get(singular(snake(kind))) if kind is not None else None
            return usual(chance, record, moment) if forms is None else self.one_of(forms)(chance, record, moment)

        return typed

    def part(self, name: str) -> Write:
        """Return a writer for an unknown field: `Standard`."""
        noun = singular(name.rsplit("_", 1)[-1])
        if not noun.isascii():
            return _numbered(noun)
        return lambda chance, _record, _moment: chance.choice(word_list("words", "parts")).capitalize()

    def _filled(self, form: str, chance: Chance, record: Record, moment: Moment) -> str:
        def filled(match: re.Match[str]) -> str:
            match match[0]:
                case "{city}":
                    city = record.get("city")
                    return city if isinstance(city, str) else chance.choice(name_pool(self._setting.locale.code).cities)
                case "{stem}":
                    return chance.choice(word_list("words", "company_stems"))
                case "{year}":
                    return str(moment.created.year)
                case "CC":
                    return self._setting.locale.country_code
                case "@":
                    return chance.choice(_LETTERS)
                case sign:
                    return str(chance.between(int(sign == "~"), 9))

        return _SLOT.sub(filled, form)


def _numbered(noun: str) -> Write:
    """Return a writer for a noun in a script other than Latin: the noun and a number."""
    return lambda chance, _record, _moment: f"{noun.replace('_', ' ')} {chance.between(1, 99)}"
