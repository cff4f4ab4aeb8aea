"""Generate texts that are plausible for the field's name and satisfy length and pattern.

Python's own parser reads a regular expression. Look-around is met by chance: more texts are drawn, from more letters.
Every result is matched against the expression.
"""

from __future__ import annotations

import re
import string
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, cast
from warnings import catch_warnings, simplefilter

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.schema_constraints import MAX_LENGTH, MAX_NUMBER, Make
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.text_fields import text_writer
from mcp_sim.generate.time_fields import Moment, time_maker, time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.validation import RESULT_FORMATS, compiled, enforceable

_MORE = 4  # repetitions without an upper bound end soon: `\w+` is a word, not a line
_CLASSES = {"digit": string.digits, "word": string.ascii_lowercase + string.digits, "space": " "}
_PRINTABLE = string.ascii_letters + string.digits + "-_.:/#@ "
_ATTEMPTS = 12  # written texts almost always match; more would slow schemas that nothing matches
_ATTEMPTS_AROUND = 200  # look-arounds are ignored by the writer and met by chance only
_AROUND = re.compile(r"\(\?<?[=!]")
_MOST_ATOMS = 100_000  # nested repetitions multiply: stops before memory is full
_MOST_LETTERS = 256  # of a range: all of ASCII, which a negated class leaves out; `[\u0001-\U0010ffff]` has a million
_DIALECT = re.compile(r"\\(?:c([A-Za-z])|k<(\w+)>|.)|\(\?<(?![=!])", re.DOTALL)
"""An escape, or the start of a named group. Escapes are consumed whole: `\\\\cache` is a backslash and a word."""


def text_maker(entity: str, name: str, schema: Record, setting: Setting) -> Make:
    make = (
        time_maker(entity, name, schema) if time_meaning(name, schema) else text_writer(entity, name, schema, setting)
    )
    if (schema.get("contentEncoding") == "base64" or schema.get("format") == "byte") and "pattern" not in schema:
        # Base64 has four characters for three of the text.
        fewest, most = -(-schema.get("minLength", 0) // 4), schema.get("maxLength", MAX_NUMBER) // 4
        bounds: Record = {"minLength": max(0, 3 * fewest - 2), "maxLength": 3 * most}

        def encoded(chance: Chance, record: Record, moment: Moment) -> Json:
            text = str(make(chance, record, moment)).encode("ascii", "replace").decode()
            return b64encode((text if text_fits(text, bounds) else fitted_text(text, bounds, chance)).encode()).decode()

        return encoded
    if not schema.keys() & {"minLength", "maxLength", "pattern"}:
        return make

    def fitting(chance: Chance, record: Record, moment: Moment) -> Json:
        value: Json = make(chance, record, moment)
        return value if text_fits(value, schema) else fitted_text(str(value), schema, chance)

    return fitting


def text_fits(text: str, schema: Record) -> bool:
    """Return whether a text satisfies length and pattern. Formats are not checked."""
    length_ok = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", MAX_NUMBER)
    return length_ok and ("pattern" not in schema or matches(schema["pattern"], text))


def fitted_text(text: str, schema: Record, chance: Chance) -> str:
    """Return the text, changed to satisfy its schema, or another one that matches its pattern."""
    if "pattern" in schema:
        fitting = next((form for form in _forms(text) if text_fits(form, schema)), None)
        fitting = matching_text(schema, chance) if fitting is None else fitting
        return text if fitting is None else fitting
    shortest, longest = min(schema.get("minLength", 0), MAX_LENGTH), schema.get("maxLength", MAX_NUMBER)
    if len(text) < shortest:
        text = " ".join([text or "x"] * (shortest // max(1, len(text)) + 1))[:shortest]
    if shortest <= len(text) <= longest:
        return text
    cut = text[:longest]
    return cut.rstrip() if len(cut.rstrip()) >= shortest else cut


def _forms(text: str) -> Iterator[str]:
    """Yield other spellings of a text, as patterns of codes and paths require them."""
    yield from (f"{text}/", text.lower(), text.upper())
    for joint in "-_":
        yield from (forms := slug(text, joint), forms.upper())
    yield "".join(piece.capitalize() for piece in slug(text, " ").split())
    yield re.sub(r"[^A-Z]", "", text.upper())


def matching_text(schema: Record, chance: Chance) -> str | None:
    """Return a text that matches the pattern, None if none was found. Its length and format fit if possible."""
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", MAX_NUMBER)
    matched, least, more = cast("str | None", None), 0, _MORE
    has_format = RESULT_FORMATS.get(schema.get("format", ""), lambda _: True)
    with suppress(ValueError, IndexError):
        pattern, is_matched = _form_and_test(schema["pattern"])
        for _ in range(_ATTEMPTS_AROUND if _AROUND.search(pattern) else _ATTEMPTS):
            text = _longer(pattern, _Writer(pattern, chance, least, more).written(), shortest)
            matched = text if is_matched(text) else matched
            if matched is text and shortest <= len(text) <= longest:
                if has_format(text):
                    return text
                shortest += len(text) < longest
            more = _MORE if shortest <= len(text) <= longest else max(0, more - 2)
            least = max(0, least + max(0, shortest - len(text)) - max(0, len(text) - longest))
    return matched


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches a text; a pattern that cannot be compiled matches every text."""
    try:
        return _form_and_test(pattern)[1](text)
    except ValueError:
        return True


@lru_cache(maxsize=256)
def _form_and_test(pattern: str) -> tuple[str, Callable[[str], bool]]:
    """Return the pattern as it is enforced, and a test whether it matches. Raises `ValueError` if it is not valid."""
    form = enforceable(pattern)
    if form is None:
        raise ValueError("no pattern")
    return form, compiled({"pattern": form}).is_valid


def _longer(pattern: str, text: str, shortest: int) -> str:
    """Lengthen a text at an end that the pattern does not anchor."""
    lacking = "x" * (shortest - len(text)) if shortest < MAX_LENGTH else ""
    if "|" in pattern or not lacking:
        return text
    if not pattern.endswith("$"):
        return text + lacking
    return text if pattern.startswith("^") else lacking + text


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> Any:
    """Parse a pattern with Python's own parser. Raises `ValueError` for what it does not know."""
    form = _DIALECT.sub(_in_python, pattern)
    try:
        with catch_warnings():  # about sets in sets, which other dialects do not have
            simplefilter("ignore", FutureWarning)
            return cast("Any", import_module("re._parser")).parse(form)
    except (re.error, OverflowError) as error:
        raise ValueError(str(error)) from None


def _in_python(match: re.Match[str]) -> str:
    """Return an escape or the start of a named group as Python spells it."""
    if match[0] == "(?<":
        return "(?P<"
    if match[1]:
        return f"\\x{ord(match[1].upper()) - 64:02x}"
    return f"(?P={match[2]})" if match[2] else match[0]


class _Writer:
    """Writes a text that matches a parsed pattern."""

    def __init__(self, pattern: str, chance: Chance, least: int, more: int) -> None:
        self.parsed, self.chance, self.least, self.more = _parsed(pattern), chance, least, more
        self.atoms = 0
        self.groups: dict[int, str] = {}
        self.any = _PRINTABLE if _AROUND.search(pattern) else _CLASSES["word"]

    def written(self) -> str:
        return self._alternatives(self.parsed)

    def _alternatives(self, nodes: Any) -> str:
        is_branch = len(nodes) == 1 and str(nodes[0][0]) == "BRANCH"
        return self.chance.choice([self._sequence(option) for option in (nodes[0][1][1] if is_branch else [nodes])])

    def _sequence(self, nodes: Any) -> str:
        return "".join(self._node(str(node[0]), node[1], is_last=node is self.parsed[-1]) for node in nodes)

    def _node(self, kind: str, value: Any, *, is_last: bool) -> str:
        self.atoms += 1
        if self.atoms > _MOST_ATOMS:
            raise ValueError("too long")
        match kind:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL" | "IN" | "ANY":
                allowed = tuple(value) if kind == "IN" else (("NEGATE", None), ("LITERAL", value))
                return self.chance.choice(self.any if kind == "ANY" else _letters(allowed))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(*value)
            case "BRANCH":
                return self._alternatives([(kind, value)])
            case "SUBPATTERN":
                text = self._alternatives(value[-1])
                self.groups[value[0]] = text
                return text
            case "ATOMIC_GROUP":
                return self._alternatives(value)
            case "GROUPREF":
                return self.groups.get(value, "")
            case "ASSERT":  # always written where nothing else can be there, which is where it looks back or at the end
                text = self._alternatives(value[1])
                return text if self.chance.unit() < (1.0 if value[0] < 0 or is_last else 0.25) else ""
            case _:
                return ""

    def _repeated(self, low: int, most: Any, nodes: Any) -> str:
        first, is_open = self._sequence(nodes), str(most) == "MAXREPEAT"
        low = low + self.least if is_open else min(low + self.least, most)
        count = self.chance.between(low, low + self.more if is_open else min(most, low + self.more))
        return "".join([first, *(self._sequence(nodes) for _ in range(count - 1))]) if count else ""


@lru_cache(maxsize=256)
def _letters(parts: tuple[tuple[Any, Any], ...]) -> str:
    """Return the letters of a class."""
    letters, negated = "", False
    for kind, meaning in parts:
        match str(kind):
            case "NEGATE":
                negated = True
            case "RANGE":
                codes = range(meaning[0], meaning[1] + 1)
                letters += "".join(islice((chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF), _MOST_LETTERS))
            case "CATEGORY":
                name = str(meaning).removeprefix("CATEGORY_").lower()
                known = _CLASSES[name.removeprefix("not_")]
                others = "".join(sign for sign in _PRINTABLE if sign not in known.upper() + known)
                letters += others if name.startswith("not_") else known
            case _:
                letters += chr(meaning)
    return "".join(letter for letter in _PRINTABLE if letter not in letters) if negated else letters
