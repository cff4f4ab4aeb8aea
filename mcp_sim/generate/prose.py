"""Generate titles, texts and chat messages by kind of record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from posixpath import basename
from typing import TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.setting import Setting, name_pool
from mcp_sim.generate.shipped_data import load, word_list, word_set
from mcp_sim.generate.time_fields import Moment
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import words

Slot: TypeAlias = Callable[[Chance, Moment], str]
Template: TypeAlias = Sequence[str | Slot]
"""Alternating texts and slots."""

_FILE_FIELDS = ("path", "file_path", "filepath", "filename", "file_name", "name")
_TITLE_FIELDS = ("title", "subject", "summary", "name", "headline")
_LONG = 60  # a longer title makes the sentence around it unreadable


class Prose:
    """Writers of titles and texts in one setting, for one kind of record."""

    def __init__(self, setting: Setting, noun: str) -> None:
        self._slots, self._noun = _slots(setting), noun
        kind, phrases = _kind(noun) or "thing", load("phrases")
        self._titles = self._compiled(phrases["titles"].get(kind) or phrases["titles"]["thing"])
        openings = phrases["openings"][kind]
        self._openings = self._compiled([text for text in openings if "{title}" not in text])
        self._about = self._compiled(openings)
        self._more = self._compiled(phrases["more"].get(kind, phrases["sentences"]))
        self._lines = self._compiled(phrases["talk"].get(kind) or phrases["lines"])

    def title(self, chance: Chance, _record: Record, moment: Moment) -> str:
        return _sentence(chance.choice(self._titles), chance, moment)

    def text(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return one to three sentences. The first one mentions the record's title if it has one."""
        title = next((value for name in _TITLE_FIELDS if isinstance(value := record.get(name), str) and value), "")
        openings = self._about if title and len(title) < _LONG else self._openings
        first = _sentence(chance.choice(openings), chance, moment).replace("\0", title)
        at = chance.below(max(1, len(self._more)))
        more = [*self._more[at:], *self._more[:at]][: chance.below(3)]
        return " ".join([first, *(_sentence(template, chance, moment) for template in more)])

    def line(self, chance: Chance, _record: Record, moment: Moment) -> str:
        """Return a message as in a chat or a comment."""
        first = _sentence(chance.choice(self._lines), chance, moment)
        return first if chance.unit() < 0.7 else f"{first} {_sentence(chance.choice(self._lines), chance, moment)}"

    def talk(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return a message for comments and chats, the content of a named file, a text for other records."""
        content = file_content(record, chance)
        if content is not None:
            return content
        is_talk = self._noun.rsplit("_", 1)[-1] in word_set("nouns", "talk")
        return (self.line if is_talk else self.text)(chance, record, moment)

    def _compiled(self, templates: Sequence[str]) -> tuple[Template, ...]:
        return tuple(_template(text, self._slots) for text in templates)


def file_content(record: Record, chance: Chance) -> str | None:
    """Return the content of the file that a record names, by the ending of its name; None if it names none."""
    paths = (value for name in _FILE_FIELDS if isinstance(value := record.get(name), str) and "." in value)
    stem, _, ending = basename(next(paths, "")).rpartition(".")
    forms = load("contents").get(ending.lower())
    if not forms or not stem:
        return None
    title = " ".join(words(stem)).capitalize()
    return chance.choice(forms).replace("{title}", title).replace("{slug}", slug(stem, "-"))


def has_subject(noun: str) -> bool:
    """Return whether records of this kind have titles that state their subject, such as tasks and meetings."""
    return _kind(noun) in load("phrases")["titles"]


def _kind(noun: str) -> str:
    """Return the kind of texts of a noun: that of its last two words, or of the last word that has one."""
    parts = words(noun)
    ends = [piece for at in range(len(parts), 0, -1) for piece in ("_".join(parts[max(0, at - 2) : at]), parts[at - 1])]
    return next((kind for word in ends if (kind := _kinds().get(word))), "")


@cache
def _kinds() -> dict[str, str]:
    """Return the kinds of texts, by noun."""
    return {noun: kind for kind, nouns in load("phrases")["kinds"].items() for noun in nouns}


def _template(text: str, slots: Mapping[str, Slot]) -> Template:
    return tuple(slots[piece] if at % 2 else piece for at, piece in enumerate(re.split(r"\{(\w+)\}", text)))


def _sentence(template: Template, chance: Chance, moment: Moment) -> str:
    text = "".join([segment if isinstance(segment, str) else segment(chance, moment) for segment in template])
    return text[:1].upper() + text[1:]


def _slots(setting: Setting) -> dict[str, Slot]:
    theme, code, months = setting.theme, setting.locale.code, word_list("phrases", "months")

    def person(chance: Chance, _moment: Moment) -> str:
        return chance.choice(name_pool(code).given[chance.below(2)])

    def when(chance: Chance, moment: Moment) -> str:
        return f"{chance.between(2, 28)} {months[(moment.created.month + chance.below(3) - 1) % 12]}"

    def drawn(words: Sequence[str]) -> Slot:
        return lambda chance, _moment: chance.choice(words)

    return {
        **{name: drawn(words) for name, words in load("phrases")["slots"].items()},
        "matter": lambda chance, _moment: chance.choice(theme.matters),
        "topic": lambda chance, _moment: chance.choice(theme.matters).removeprefix("the "),
        "good": lambda chance, _moment: chance.choice(theme.goods),
        "goods": lambda chance, _moment: several(chance.choice(theme.goods)),
        "kind": lambda chance, _moment: chance.choice(theme.kinds),
        "month": lambda _chance, moment: months[moment.created.month - 1],
        "year": lambda _chance, moment: str(moment.created.year),
        "quarter": lambda _chance, moment: f"Q{(moment.created.month + 2) // 3}",
        "date": when,
        "n": lambda chance, _moment: str(chance.between(2, 60)),
        "person": person,
        "title": lambda _chance, _moment: "\0",
    }


@lru_cache(maxsize=1024)
def several(good: str) -> str:
    """Return the plural of a thing: `pairs of gloves` for `pair of gloves`."""
    head, of, rest = good.partition(" of ")
    plural = head + ("es" if head.endswith(("s", "x", "ch", "sh")) else "s")
    if head.endswith("y") and head[-2:-1] not in set("aeiou"):
        plural = head[:-1] + "ies"
    plural = head if head.endswith("s") and not head.endswith("ss") else plural
    return plural + of + rest
