"""Replace personal data in what is recorded by stand-ins.

A stand-in is a keyed hash of what it replaces, so that the same value has the same one in all sessions of a folder, and
calls still match their answers. Words of names are replaced one by one: a mail address made of a name still is.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias, cast

from mcp_sim.recordings.capture import personal_fields
from mcp_sim.recordings.capture.personal_fields import TOKEN, Kind, luhn_sum
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record, as_list, as_object
from mcp_sim.types.json_values import objects_in, texts_in

_Finder: TypeAlias = Callable[[str], Iterable[tuple[int, int, str]]]
"""Yields start, end and stand-in of what it finds in a text."""

_MAIL = re.compile(
    r"(?<![\w.+%-])(?P<local>[\w.+'-]{1,64})(?P<at>@|%40)(?P<domain>(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})(?![\w-])"
)
_ESCAPE = re.compile(r"\\[nrt]")
"""An escape of JSON within a text. Its letter belongs to no word."""
_NAME_BEFORE = re.compile(r"((?:[^\W\d_][\w'’.-]*[ ,]{1,2}){1,3})\\?[\"']?\s?<$")
"""A name before the address of a mail: `Ada Vos <ada@example.com>`."""

_LONGEST_BEFORE = 200  # characters before an address that are searched for a name

_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+[1-9]\d{0,2}[ .()/-]{0,2}(?:\d[ .()/-]{0,2}){6,12}\d|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})"
    r"(?![\w-])"
)
"""A phone number in a text: an international one, or one in the form of North America."""

_CARD = re.compile(r"(?<![\w.-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|3[47]\d\d)(?:[ -]?\d){11,12}(?![\w-])")
"""What may be the number of a payment card, by its first digits."""

_SCHEMA_TEXTS = frozenset({"title", "description", "default", "const", "enum", "example", "examples"})
"""Keywords of a JSON Schema, or of a tool, with texts."""

_KEPT = frozenset({"type", "tool", "method", "session", "at", "started"})
"""Parts of a recorded line that are not data of the server."""


class Pseudonyms:
    """Finds personal data and replaces it. Like a `Redactor`, but what it writes looks like what was there."""

    def __init__(self, key: bytes) -> None:
        self._key, self._stand_ins = key, StandIns(key)
        self._names = defaultdict[str, set[tuple[str, ...]]](set)
        """The words of names, in lower case, by the first one."""
        self._ordinary = {*personal_fields.personal_words().ordinary}
        """Words that mean something else, too; those of the list of tools are among them."""
        self._known = KnownTexts()
        """Other texts."""
        self._replaced = defaultdict[str, set[str]](set)

    def redact(self, value: Json, place: str) -> Json:
        """Return a recorded line with stand-ins. `place` is its tool."""
        line = cast("Record", value)
        for inner in line.values():
            self.learn(inner, place)
        return {
            name: inner if name in _KEPT else self._replace(inner, has_patterns=True) for name, inner in line.items()
        }

    def redact_schemas(self, value: Json, _place: str) -> Json:
        """Return a list of tools with stand-ins. What they are depends on the list alone, so that lists stay equal."""
        alone = Pseudonyms(self._key)
        for text in _texts_in(value):
            self._ordinary.update(token[0] for token in TOKEN.finditer(text.replace("_", " ")) if token[0].islower())
        for field, inner in (pair for schema in objects_in(value) for pair in schema.items()):
            schema = as_object(inner)
            values = [schema[word] for word in ("default", "const") if word in schema]
            values += [item for word in ("enum", "examples") for item in as_list(schema.get(word))]
            for learner in (self, alone) if values else ():
                learner.learn({field: values}, "")
        return alone.replace_in_schemas(value)

    def replace_known(self, line: Record) -> Record:
        """Return a line that was written earlier, with stand-ins for the names that were learnt since."""
        return {
            name: inner if name in _KEPT else self._replace(inner, has_patterns=False) for name, inner in line.items()
        }

    def report(self) -> Iterator[str]:
        """Yield a line with the number of different values of each kind that were replaced."""
        for kind, values in sorted(self._replaced.items()):
            yield f"{kind}: {len(values)} different"

    # learning ---------------------------------------------------------------------------------------------------------

    def learn(self, value: Json, tool: str) -> None:
        """Learn the personal data in a value, which replaces it wherever it appears from now on."""
        for kind, text in personal_fields.find_personal(value, personal_fields.persons_in(tool)):
            if kind == "name":
                self._learn_name(text)
            else:
                self._note(kind, text)
                self._known.add(text, self._stand_ins.of(kind, text))
        for text in _texts_in(value):
            for mail in _MAIL.finditer(text):
                before = _NAME_BEFORE.search(text, max(0, mail.start() - _LONGEST_BEFORE), mail.start())
                words = before[1].split() if before else []
                names = (" ".join(words[at:]) for at in range(len(words)))
                for name in [name for name in names if personal_fields.is_persons_name(name)][:1]:
                    self._learn_name(name)

    def _learn_name(self, name: str) -> None:
        known = personal_fields.personal_words()
        tokens = [token for token in TOKEN.findall(name) if token.lower() not in known.kept]
        words = tuple(token.casefold() for token in tokens if not token.isdecimal())
        if len(words) > 1:
            for sequence in (words, (*words[1:], words[0]), (words[-1], *words[:-1]), ("".join(words),)):
                self._names[sequence[0]].add(sequence)
        for token in tokens:
            if len(token) > 1 and not token.isdecimal():
                self._names[token.casefold()].add((token.casefold(),))
            if not token.isascii():
                self._known.add(json.dumps(token)[1:-1], json.dumps(self._stand_ins.word(token))[1:-1])
            if token.lower() == token.upper() and not token.isdecimal():  # in scripts without capitals or spaces
                self._known.add(token, self._stand_ins.word(token))

    # replacing --------------------------------------------------------------------------------------------------------

    def _replace(self, value: Json, *, has_patterns: bool, field: str = "") -> Json:
        if isinstance(value, dict):
            parts = cast("Record", value)
            return {
                self._text(name, has_patterns): self._replace(
                    inner, has_patterns=has_patterns, field=personal_fields.naming_field(name, field)
                )
                for name, inner in parts.items()
            }
        if isinstance(value, list):
            return [self._replace(item, has_patterns=has_patterns, field=field) for item in cast("list[Json]", value)]
        if isinstance(value, str):
            return self._text(value, has_patterns)
        number = personal_fields.text_of_number(value)
        if number is not None and personal_fields.kind_of(field) in {"number", "card"}:
            return type(value)(self._known.stand_in(number) or value)
        return value

    def replace_in_schemas(self, value: Json, *, is_text: bool = False) -> Json:
        """Return a part of a list of tools with stand-ins, in its texts only."""
        if isinstance(value, dict):
            return {
                name: self.replace_in_schemas(inner, is_text=is_text or name in _SCHEMA_TEXTS)
                for name, inner in cast("Record", value).items()
            }
        if isinstance(value, list):
            return [self.replace_in_schemas(item, is_text=is_text) for item in cast("list[Json]", value)]
        return self._text(value, has_patterns=True) if is_text and isinstance(value, str) else value

    def _text(self, text: str, has_patterns: bool) -> str:
        """Return a text with stand-ins, also within Base64 and in the cells of CSV."""
        inner = personal_fields.decoded(text)
        if inner is not None:
            replaced = self._text(inner, has_patterns)
            return text if replaced == inner else personal_fields.encoded_like(text, replaced)
        finders = [_finder(pattern, lambda match: match[0]) for pattern in (PLACEHOLDER, _ESCAPE)]
        finders += [_finder(_MAIL, self._mail), self._known.find]
        if has_patterns:
            finders += [_finder(_CARD, self._card), _finder(_PHONE, lambda match: self._digits("number", match))]
        edges = [
            0,
            *accumulate(map(len, personal_fields.pieces_of(text))),
        ]  # of cells. An address may be in two of them, no name is
        borders, parts, end = {*edges}, list[str](), 0
        for start, following, stand_in in (*_found(finders, text, 0, len(text)), (len(text), len(text), "")):
            within = edges[bisect_right(edges, end) : bisect_left(edges, start)]
            for first, last in pairwise((end, *within, start)):
                before = "" if first in borders else text[first - 1]
                after = "" if last in borders else text[last]
                parts.append(self._without_names(text[first:last], before, after))
            parts.append(stand_in)
            end = following
        return "".join(parts)

    def _mail(self, match: re.Match[str]) -> str:
        """Return the stand-in of a mail address. Its domain stays a part, with which answers may be searched."""
        local, domain = match["local"], match["domain"].lower()
        known = personal_fields.personal_words()
        is_reserved = f".{domain}".endswith(tuple(f".{name}" for name in known.reserved))
        if is_reserved or domain.rpartition(".")[2] in known.files or local.lower() in known.roles:
            return TOKEN.sub(self._if_name, local) + match[0][len(local) :]
        self._replaced["mail"].add(match[0])
        replaced = TOKEN.sub(lambda token: self._stand_ins.cased(token[0].lower()), local)
        return f"{replaced}{match['at']}{match['domain']}.example"

    def _if_name(self, token: re.Match[str]) -> str:
        return self._stand_ins.cased(token[0]) if token[0].casefold() in self._names else token[0]

    def _card(self, match: re.Match[str]) -> str:
        return self._digits("card", match) if personal_fields.is_card(match[0]) else match[0]

    def _digits(self, kind: Kind, match: re.Match[str]) -> str:
        self._note(kind, match[0])
        return self._stand_ins.of(kind, match[0])

    def _note(self, kind: Kind, text: str) -> None:
        self._replaced[kind].add(text.casefold() if kind == "street" else re.sub(r"\D", "", text))

    def _without_names(self, text: str, before: str, after: str) -> str:
        """Return a text with stand-ins for names. `before` and `after` are the characters around it."""
        tokens = list(TOKEN.finditer(text))
        parts, at, number = list[str](), 0, 0
        while number < len(tokens):
            size = self._size_of_name(tokens, number, text, before, after)
            for token in tokens[number : number + size]:
                self._replaced["name"].add(token[0].casefold())
                parts += [text[at : token.start()], self._stand_ins.cased(token[0])]
                at = token.end()
            number += size or 1
        return "".join((*parts, text[at:])) if parts else text

    def _size_of_name(self, tokens: list[re.Match[str]], first: int, text: str, before: str, after: str) -> int:
        """Return the number of words of the name that begins at a word, 0 if none does."""
        start = tokens[first]
        sequences = self._names.get(start[0].casefold(), ())
        for sequence in sorted(sequences, key=len, reverse=True):
            matched = tokens[first : first + len(sequence)]
            if tuple(token[0].casefold() for token in matched) != sequence:
                continue
            if len(sequence) > 1 and all(_are_near(*pair, text) for pair in pairwise(matched)):
                return len(sequence)
            if len(sequence) == 1 and self._is_name(start, text, before, after):
                return 1
        return 0

    def _is_name(self, token: re.Match[str], text: str, before: str, after: str) -> bool:
        """Whether a word of a name means it here: with a capital anywhere, else, and if it is ordinary, alone."""
        has_capital, is_ordinary = not token[0].islower(), token[0].casefold() in self._ordinary
        if has_capital and not is_ordinary:
            return True
        return (has_capital or not is_ordinary) and _is_alone(token, text, before, after)


def _finder(pattern: re.Pattern[str], stand_in: Callable[[re.Match[str]], str]) -> _Finder:
    return lambda text: ((match.start(), match.end(), stand_in(match)) for match in pattern.finditer(text))


def _found(finders: Sequence[_Finder], text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield what the first finder finds in a part of a text, and what the others find in between."""
    if not finders or start == end:
        return
    finder, *others = finders
    at, size = start, end - start
    for first, last, stand_in in (*finder(text[start:end]), (size, size, "")):
        yield from _found(others, text, at, start + first)
        if first < last:
            yield start + first, start + last, stand_in
        at = start + last


def _are_near(token: re.Match[str], following: re.Match[str], text: str) -> bool:
    """Whether only a blank, a sign or a short word such as `van` is between two words."""
    between = text[token.end() : following.start()]
    return len(between) <= 3 and not re.search(r"[\n;:!?()<>{}\[\]]", between)


def _is_alone(token: re.Match[str], text: str, before: str, after: str) -> bool:
    """Whether a word is all of a text or of a quotation in it, a part of a path, or mentioned as `@ada`."""
    previous = text[token.start() - 1] if token.start() else before
    following = text[token.end()] if token.end() < len(text) else after
    return previous == "@" or (previous in _BORDERS and following in _BORDERS)


_BORDERS = frozenset({"", '"', "'", "`", "/", "\\"})


def _texts_in(value: Json) -> Iterator[str]:
    return (personal_fields.decoded(text) or text for _, text in texts_in(value))


_START = re.compile(r"(?<![^\W_])[A-Za-z0-9]|[^\sA-Za-z0-9]")
"""Where a known text may begin: not within a longer word or number, except in scripts without spaces."""


class KnownTexts:
    """Texts with their stand-ins. A search takes as long with thousands of texts as with a few."""

    def __init__(self) -> None:
        self._stand_ins = dict[str, str]()
        self._lengths = defaultdict[str, set[int]](set)
        """The lengths of the texts by their first character."""

    def add(self, text: str, stand_in: str) -> None:
        """Add a text, unless it is known. Blanks around it do not count."""
        text = text.strip()
        if text and text not in self._stand_ins:
            self._stand_ins[text] = stand_in.strip()
            self._lengths[text[0]].add(len(text))

    def stand_in(self, text: str) -> str | None:
        return self._stand_ins.get(text)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and stand-in of the known texts in a text, the longest at each place."""
        after = 0
        for match in _START.finditer(text) if self._stand_ins else ():
            start = match.start()
            if start < after:
                continue
            for length in sorted(self._lengths.get(match[0], ()), reverse=True):
                known = text[start : start + length]
                stand_in, end = self._stand_ins.get(known), start + len(known)
                if stand_in is not None and not _is_within_word(text, end):
                    yield start, end, stand_in
                    after = end
                    break


def _is_within_word(text: str, end: int) -> bool:
    """Whether a word or number goes on after this place, in which a known text ends."""
    last = text[end - 1 : end]
    return last.isascii() and last.isalnum() and text[end : end + 1].isalnum()


# stand-ins ------------------------------------------------------------------------------------------------------------


KEY_FILE = ".pseudonyms.key"
"""The file with the key, in the folder of a recording. Who has it can test which names a recording has."""

_ONSETS, _VOWELS = "bdfghklmnprstvwz", "aeiou"
_SYLLABLES = 4
"""Syllables of a stand-in for a word. With 80 different ones, two of a thousand words are the same in a recording of a
hundred."""


class StandIns:
    """The same text has the same stand-in under the same key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def _hash(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256"))

    def cased(self, token: str) -> str:
        """Return the stand-in of a word, in capitals where the word is."""
        if token.isdecimal():
            return self._digits(token, self._hash(token))
        word = self.word(token)
        if token.islower():
            return word.lower()
        return word.upper() if token.isupper() and len(token) > 1 else word

    def word(self, token: str) -> str:
        """Return a word that can be spoken; the first letter of one for a single letter."""
        number, letters = self._hash(token.casefold()), list[str]()
        for _ in range(_SYLLABLES):
            number, onset = divmod(number, len(_ONSETS))
            number, vowel = divmod(number, len(_VOWELS))
            letters += [_ONSETS[onset], _VOWELS[vowel]]
        word = "".join(letters).title()
        return word[0] if len(token) == 1 else word

    def of(self, kind: Kind, text: str) -> str:
        """Return a text of the same form, with other digits; a street has another name, too."""
        digits = re.sub(r"\D", "", text)
        number = self._hash(f"{kind}:{digits if kind != 'street' else text.casefold()}")
        match kind:
            case "street":
                number, house = divmod(number, 199)
                return f"{house + 1} {self.word(text)} Street"
            case "card":
                return _spread(_with_check_digit(digits[0] + self._digits(digits[1:-4], number) + digits[-4:]), text)
            case _:
                return _spread(digits[:2] + self._digits(digits[2:], number), text)  # a country, or 0 and a kind

    @staticmethod
    def _digits(text: str, number: int) -> str:
        """Return as many digits as a text has, from the end of a number."""
        return "".join(str(number // 10**at % 10) for at in range(len(text)))


def _spread(digits: str, text: str) -> str:
    """Return a text with its digits replaced in order."""
    following = iter(digits)
    return re.sub(r"\d", lambda _: next(following), text)


def _with_check_digit(digits: str) -> str:
    """Return the number of a card with a valid check digit: the fifth digit from the end is adapted."""
    return next(
        changed for digit in "0123456789" if luhn_sum(changed := f"{digits[:-5]}{digit}{digits[-4:]}") % 10 == 0
    )


def pseudonym_key(folder: Path) -> bytes:
    """Return the key of a recording. The first time it is drawn, and hidden from Git. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    path, fresh = folder / KEY_FILE, folder / f"{KEY_FILE}.{token_hex(8)}"
    if not path.exists():
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(token_hex(32))
        try:
            with suppress(FileExistsError):  # another session of the folder begins at the same time
                os.link(fresh, path)
        finally:
            fresh.unlink()
    ignored = folder / ".gitignore"
    lines = ignored.read_text(encoding="utf-8").splitlines() if ignored.exists() else []
    if KEY_FILE not in lines:
        ignored.write_text("".join(f"{line}\n" for line in (*lines, KEY_FILE)), encoding="utf-8")
    return bytes.fromhex(path.read_text(encoding="utf-8"))
