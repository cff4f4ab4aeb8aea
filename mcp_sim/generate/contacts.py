"""Generate names, e-mail addresses, telephone numbers and postal addresses of people and companies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.setting import Setting, name_pool
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.time_fields import Moment
from mcp_sim.types import Json, Record

_WHOLE = ("name", "full_name", "fullName", "display_name", "displayName")
_BY_OTHERS = (
    "contact_name", "contactName", "contact_person", "customer_name", "customerName", "guest_name", "owner_name",
    "cardholder", "cardholder_name",
)  # fmt: skip
"""Fields that name a person other than the record itself."""

_FIRMS = ("company", "company_name", "companyName", "organization", "organisation", "employer")
_SHORT = 7  # a company whose first word is shorter has the first two words of its name in its domain

_FAMILY_FIRST = frozenset({"ja", "zh", "ko", "hu"})
_WITHOUT_SPACE = frozenset({"ja", "zh", "ko"})
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


class People:
    """Writers of the names and addresses of people and companies in one setting."""

    def __init__(self, setting: Setting) -> None:
        self._locale, self._theme = setting.locale, setting.theme
        self._pool = name_pool(setting.locale.code)

    # persons

    def first_name(self, chance: Chance, record: Record, _moment: Moment) -> str:
        whole = whole_name(record)
        return whole.split()[0] if whole else chance.choice(self._pool.given[_sex(record, chance)])

    def last_name(self, chance: Chance, record: Record, _moment: Moment) -> str:
        whole = whole_name(record)
        if whole:
            return whole.partition(" ")[2] or whole
        return chance.choice(self._pool.family[_sex(record, chance)])

    def person(self, chance: Chance, record: Record, _moment: Moment) -> str:
        first, last = _given_names(record)
        if not (first and last):
            sex = _sex(record, chance)
            first, last = chance.choice(self._pool.given[sex]), chance.choice(self._pool.family[sex])
        if self._locale.code in _FAMILY_FIRST:
            first, last = last, first
        return f"{first}{'' if self._locale.code in _WITHOUT_SPACE else ' '}{last}"

    def someone(self, chance: Chance, _record: Record, moment: Moment) -> str:
        """Return the name of a person who is unrelated to the record's own name."""
        return self.person(chance, {}, moment)

    def username(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._account(chance, record).replace(".", "_")

    # companies

    def company(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        form = chance.choice(self._locale.forms)
        kind = chance.unit()
        if kind < 0.4:
            return f"{chance.choice(self._pool.family[1])} {chance.choice(self._theme.firms)} {form}"
        if kind < 0.6:
            return f"{chance.choice(self._pool.family[1])} {form}"
        stem = chance.choice(word_list("words", "company_stems"))
        return f"{stem} {chance.choice(self._theme.firms)}{f' {form}' if kind < 0.8 else ''}"

    # ways to reach them

    def email(self, chance: Chance, record: Record, _moment: Moment) -> str:
        contact, firm = _first_value(record, *_BY_OTHERS), _first_value(record, *_FIRMS)
        named: Record = {"name": contact} if contact else record
        domain = _of_firm(firm) or self._domain(chance)
        return f"{self._account(chance, named)}@{domain}"

    def email_of(self, role: str) -> Callable[[Chance, Record, Moment], str]:
        """Return a writer of the address of the person in a role: `customer_email` matches `customer_name`."""

        def write(chance: Chance, record: Record, _moment: Moment) -> str:
            person = _first_value(record, f"{role}_name", f"{role}Name", role)
            named: Record = {"name": person} if isinstance(person, str) and " " in person else {}
            return f"{self._account(chance, named)}@{self._domain(chance)}"

        return write

    def office_email(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return the address of a company: that of its contact person if it has one, else of its office."""
        if _first_value(record, *_BY_OTHERS):
            return self.email(chance, record, moment)
        domain = _of_firm(whole_name(record) or _first_value(record, *_FIRMS)) or self._domain(chance)
        return f"{chance.choice(_OFFICES)}@{domain}"

    def an_email(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        """Return the address of a person who is unrelated to the record's own name."""
        return f"{self._account(chance, {})}@{self._domain(chance)}"

    def phone(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        locale = self._locale
        return f"+{locale.calling} {chance.choice(locale.areas)} 555 {chance.below(10000):04d}"

    def url(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return f"https://{self.host(chance, record, _moment)}"

    def picture(self, chance: Chance, record: Record, _moment: Moment) -> str:
        name = whole_name(record) or str(_first_value(record, "title", "username") or "")
        return f"https://images.example/{slug(name, '-') or f'{chance.below(10**6):06d}'}.jpg"

    def host(self, chance: Chance, record: Record, _moment: Moment) -> str:
        host = _of_firm(whole_name(record) or _first_value(record, *_FIRMS))
        return host or f"{chance.choice(word_list('words', 'company_stems')).lower()}.example"

    def _domain(self, chance: Chance) -> str:
        kind = chance.unit()
        if kind < 0.35:
            return chance.choice(word_list("words", "mail_hosts"))
        name = self._pool.family[1] if kind < 0.6 else word_list("words", "company_stems")
        return f"{slug(chance.choice(name), '') or 'mail'}.example"

    def _account(self, chance: Chance, record: Record) -> str:
        """Return the part of an e-mail address before the @: the record's own name if it has one."""
        first, last = _given_names(record)
        whole = f"{first} {last}" if first and last else whole_name(record)
        result = slug(whole or self.person(chance, {}, Moment.unknown()), ".")
        return result or f"{chance.choice(word_list('words', 'company_stems')).lower()}{chance.between(10, 999)}"


_OFFICES = ("info", "office", "hello", "contact", "sales")


def _of_firm(name: Json) -> str:
    """Return the domain of a company, "" if there is no name."""
    words = name.split(" ") if isinstance(name, str) else [""]
    domain = slug(" ".join(words[:2] if len(words[0]) < _SHORT else words[:1]), "-")
    return f"{domain}.example" if domain else ""


def _given_names(record: Record) -> tuple[str, str]:
    """Return the first and the last name that a record holds, "" for what it lacks."""
    names = _first_value(record, "first_name", "firstName"), _first_value(record, "last_name", "lastName")
    first, last = (name if isinstance(name, str) else "" for name in names)
    return first, last


def whole_name(record: Record) -> str:
    """Return the record's own name, or ''."""
    result = _first_value(record, *_WHOLE)
    return result if isinstance(result, str) else ""


def slug(text: str, joint: str) -> str:
    """Return the letters and digits of a text in lower case, without accents; `joint` separates the words."""
    if text.isascii():
        return joint.join(re.findall(r"[a-z0-9]+", text.lower()))
    return _plain_slug(text, joint)


@lru_cache(maxsize=4096)
def _plain_slug(text: str, joint: str) -> str:
    plain = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return joint.join(re.findall(r"[a-z0-9]+", plain))


def _sex(record: Record, chance: Chance) -> int:
    """Return the index of the list of names: 0 for women, 1 for men; drawn unless the record decides it."""
    known = _first_value(record, "gender", "sex")
    if isinstance(known, str) and known[:1].lower() in {"f", "m"}:
        return int(known[:1].lower() == "m")
    return chance.below(2)


def _first_value(record: Record, *names: str) -> Json:
    """Return the value of the first of these fields that is not empty."""
    for name in names:
        if record.get(name):
            return record[name]
    return None
