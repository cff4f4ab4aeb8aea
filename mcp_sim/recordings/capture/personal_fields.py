"""Find personal data in recorded messages, by the names of fields that `personal.yaml` lists."""

from __future__ import annotations

import binascii
import csv
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast

import yaml
from pydantic import BaseModel, ConfigDict

from mcp_sim.recordings.capture.secret_words import Words, is_open_value, words_of
from mcp_sim.types import Json, Record, as_list, decode
from mcp_sim.types.lexicon.english import singular

Kind: TypeAlias = Literal["name", "number", "card", "street", "unsure"]
"""What a field holds. `unsure`: the name of a person, or of anything else."""

Persons: TypeAlias = Literal["none", "one", "many"]
"""Whom a value is about. Many may be in a list, or in an object by their ids."""

TOKEN = re.compile(r"[^\W_]+")
"""A word of a name. Underscores, dots and dashes separate the words of user names and addresses."""

MOST_WORDS = 5
"""The most words of a person's name. More are a sentence."""

FEWEST_DIGITS = 6
"""Digits of a number that identifies a person. Fewer are an extension, or a number of something else."""

_LABELLED = re.compile(r"(?m)^[\s>*•#-]*([A-Za-z][\w ]{1,30}?)\**[ \t]*:\**[ \t]+\**(.+?)\**[ \t]*$")
"""A line of a text such as `- **Full name:** Ada Vos`."""

_TABLE_ROW = re.compile(r"(?m)^[ \t]*\|(.+)\|[ \t]*$")


class PersonalWords(BaseModel):
    """The contents of `personal.yaml`."""

    model_config = ConfigDict(extra="forbid")

    fields: dict[Kind, list[str]]
    not_fields: frozenset[str]
    containers: frozenset[str]
    persons: frozenset[str]
    not_names: frozenset[str]
    kept: frozenset[str]
    ordinary: frozenset[str]
    roles: frozenset[str]
    reserved: list[str]
    files: frozenset[str]


@cache
def personal_words() -> PersonalWords:
    return PersonalWords.model_validate(yaml.safe_load(Path(__file__).with_name("personal.yaml").read_bytes()))


@cache
def kind_of(field: str) -> Kind | None:
    """Return the kind of personal data that a field holds; None for other data. `phone_numbers` hold what one does."""
    words, (kinds, others) = words_of(field), _kinds()
    ends = [end for at in range(len(words)) for end in (words[at:], (*words[at:-1], singular(words[-1])))]
    return None if any(end in others for end in ends) else next((kinds[end] for end in ends if end in kinds), None)


@cache
def _kinds() -> tuple[Mapping[Words, Kind], Collection[Words]]:
    """Return the kinds by the words of fields, and the words of fields that only look like them."""
    known = personal_words()
    kinds: dict[Words, Kind] = {words_of(name): kind for kind, names in known.fields.items() for name in names}
    return kinds, {words_of(name) for name in known.not_fields}


def naming_field(name: str, around: str) -> str:
    """Return the field that says what a field holds: the one around it for the `number` of a `phone`."""
    is_named_around = name in personal_words().containers and kind_of(around) in {"number", "card", "street"}
    return around if is_named_around else name


def persons_in(name: str) -> Persons:
    """Return whom the last word of a name means: one in `assignee`, many in `list_contacts`, `find_users_by_city`."""
    words = words_of(name)
    ends = [at for at, word in enumerate(words) if word in {"by", "for", "from", "in", "of", "with"}]
    noun = (words[: ends[0]] if ends else words)[-1:]
    if not noun or singular(noun[0]) not in personal_words().persons:
        return "none"
    return "one" if singular(noun[0]) == noun[0] else "many"


def find_personal(value: Json, persons: Persons, field: str = "") -> Iterator[tuple[Kind, str]]:
    """Yield the personal data in arguments or an answer about some persons: its kind, and the text as it is there."""
    if isinstance(value, dict):
        yield from _in_record(cast("Record", value), persons, field)
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from find_personal(item, persons, field)
    elif isinstance(value, str):
        for record in _records_in((decoded(value) or value).removeprefix(BOM)):
            yield from find_personal(record, persons, field)


def _in_record(record: Record, persons: Persons, field: str) -> Iterator[tuple[Kind, str]]:
    """Yield the personal data of a record. Its name is a person's if other fields are those of a person."""
    has_contact = any(kind_of(name) not in {None, "unsure"} or "@" in str(inner) for name, inner in record.items())
    is_by_id = persons == "many" and all(isinstance(inner, dict) for inner in record.values())
    if persons == "many" and all(_is_person_by_name(name, inner) for name, inner in record.items()):
        for name in record:
            yield "name", name
    for name, inner in record.items():
        named_by = naming_field(name, field)
        kind, role = kind_of(named_by), persons_in(name)
        is_name = role != "none" or (kind == "unsure" and (has_contact or persons != "none"))
        for item in as_list(inner) or [inner]:
            text = item if isinstance(item, str) else text_of_number(item)
            if text is not None and kind is not None and kind != "unsure":
                if _fits(kind, text):
                    yield kind, text
            elif text is not None and is_name and is_persons_name(text):
                yield "name", text
        if role == "none" and name in personal_words().containers:
            role = persons
        elif role == "none" and (is_by_id or name.find("@") > 0):
            role = "one"
        yield from find_personal(inner, role, named_by)


def _is_person_by_name(name: str, inner: Json) -> bool:
    """Whether a field is a person under its name. A single word with a number is a statistic: `"Active": 3`."""
    return kind_of(name) is None and is_persons_name(name) and (len(name.split()) > 1 or isinstance(inner, dict))


def text_of_number(value: Json) -> str | None:
    """Return a whole number as a text, also if it is a float, as some languages send all of them; else None."""
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return None
    return str(int(value))


def _fits(kind: Kind, text: str) -> bool:
    """Whether the text of a field is what its name says."""
    tokens = TOKEN.findall(text)
    if is_open_value(text) or "\n" in text or text.startswith("0x"):
        return False
    match kind:
        case "name":
            is_short = text[0].isalpha() and len(tokens) <= MOST_WORDS and "@" not in text
            return is_short and not personal_words().not_names & {token.lower() for token in tokens}
        case "street":
            return (
                len(tokens) > 1 and re.search(r"\d", text) is not None and re.search(r"[^\W\d_]{3}", text) is not None
            )
        case "card":
            return is_card(text)
        case _:
            return sum(sign.isdigit() for sign in text) >= FEWEST_DIGITS and len(tokens) <= 2 * MOST_WORDS


def is_card(text: str) -> bool:
    """Whether a text is the number of a payment card, by its length and its check digit."""
    digits = re.sub(r"[ -]", "", text)
    return digits.isdecimal() and 13 <= len(digits) <= 19 and luhn_sum(digits) % 10 == 0  # ISO/IEC 7812


def luhn_sum(digits: str) -> int:
    """Return the sum that is a multiple of ten for the number of a card."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return sum(map(int, digits[-1::-2])) + sum(number - 9 if number > 9 else number for number in doubled)


def is_persons_name(text: str) -> bool:
    """Whether a text looks like the name of a person: few words with capitals, and no word of groups or companies."""
    known, tokens = personal_words(), text.replace(".", " ").replace(",", " ").split()
    lowered = {token.lower() for token in tokens}
    return (
        0 < len(tokens) <= MOST_WORDS
        and not known.not_names & lowered
        and all(re.fullmatch(r"[^\W\d_][^\W\d_'’-]*(?:['’-][^\W\d_]+)*", token) for token in tokens)
        and all(not token[0].islower() or token in known.kept for token in tokens)
    )


def _records_in(text: str) -> Iterator[Json]:
    """Yield the records that a text has: JSON, lines with labels, the rows of a table in Markdown or CSV."""
    if text.lstrip()[:1] in {"{", "["}:
        try:
            yield decode(text.encode())
        except ValueError:
            pass
        else:
            return
    # Lines with labels.
    record: Record = {}
    for line in _LABELLED.finditer(text):
        if line[1] in record:
            yield record
            record = {}
        record[line[1]] = line[2]
    if record:
        yield record
    lines = [[cell.strip() for cell in row[1].split("|")] for row in _TABLE_ROW.finditer(text)]
    for cells in lines[1:]:
        yield dict(zip(lines[0], cells, strict=False))
    yield from rows_of(text)


# texts within texts ---------------------------------------------------------------------------------------------------


_BLOCK = re.compile(r"(\n\s*\n|^```.*\n?)", re.MULTILINE)  # what separates a table from the text around it

_HEADER = re.compile(r'"?[A-Za-z][\w ./-]{0,40}"?')
_CELLS = {sign: re.compile(rf'("(?:[^"]|"")*"|[^{sign}\r\n"]+)') for sign in (",", ";", "\t")}

_BASE64 = re.compile(r"(data:[^,\s]*;base64,)?([A-Za-z0-9+/_\r\n-]+(?:=[\r\n]*){0,2})")
_BREAKS = re.compile(r"[\r\n]+")
_STANDARD, _FOR_ADDRESSES = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")
BOM = "\ufeff"  # what spreadsheets write before CSV in UTF-8
SHORTEST = 16
"""Characters of a text in Base64. Shorter ones are words that happen to decode to letters."""


def rows_of(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the CSV tables in a text. The first line of each names the columns."""
    for block in _BLOCK.split(text):
        header, *rows = _table(block)[1] or [[]]
        for row in rows:
            yield dict(zip(header, row, strict=True))


def pieces_of(text: str) -> Iterator[str]:
    """Yield a text in pieces; each cell of a CSV table is one."""
    for block in _BLOCK.split(text):
        sign, rows = _table(block)
        yield from _CELLS[sign].split(block) if rows else [block]


def _table(block: str) -> tuple[str, list[list[str]]]:
    """Return the sign between the cells of a CSV table, and its rows; none if a text is something else."""
    block = block.removeprefix(BOM)
    first, _, rest = block.strip("\r\n").partition("\n")
    for sign in _CELLS if rest else ():
        names = first.rstrip("\r").split(sign)
        if len(names) > 1 and all(map(_HEADER.fullmatch, names)):
            try:
                rows = [row for row in csv.reader(block.splitlines(keepends=True), delimiter=sign, strict=True) if row]
            except csv.Error:
                continue
            if all(len(row) == len(names) for row in rows):
                return sign, rows
    return "", []


def decoded(text: str) -> str | None:
    """Return the text that a text in Base64 encodes; None for any other text.

    Lines may be wrapped, and the alphabet may be that of URLs. `data:` URLs are texts in Base64, too.
    """
    match = _BASE64.fullmatch(text)
    code = _BREAKS.sub("", match[2]) if match else ""
    if len(code) < SHORTEST:
        return None
    try:
        inner = b64decode(code.translate(_STANDARD) + "=" * (-len(code) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return inner if all(sign.isprintable() or sign in "\t\r\n" for sign in inner.removeprefix(BOM)) else None


def encoded_like(text: str, inner: str) -> str:
    """Return another text in Base64, in the form of `text`: its lines, alphabet, padding and what is before it."""
    match = _BASE64.fullmatch(text)
    start, code = (match[1] or "", match[2]) if match else ("", text)
    body, encoded = code.rstrip("\r\n"), b64encode(inner.encode()).decode()
    if len(_BREAKS.sub("", body)) % 4:
        encoded = encoded.rstrip("=")
    if "-" in body or "_" in body:
        encoded = encoded.translate(_FOR_ADDRESSES)
    if broken := _BREAKS.search(body):
        width = broken.start()
        encoded = broken[0].join(encoded[at : at + width] for at in range(0, len(encoded), width))
    return start + encoded + code[len(body) :]
