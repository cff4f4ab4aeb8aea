"""Generate texts that match a regular expression of a JSON Schema.

Literals, classes, groups, alternatives, quantifiers and back-references are written as they are read. Look-around is
met by chance: more texts are drawn, from more letters. Every result is matched against the expression.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import MAX_LENGTH, MAX_NUMBER
from mcp_sim.types.json_schema.validation import compiled, enforceable

_MORE = 4  # repetitions without an upper bound end soon: `\w+` is a word, not a line
_CLASSES = {"d": string.digits, "w": string.ascii_lowercase + string.digits, "s": " "}
_PRINTABLE = string.ascii_letters + string.digits + "-_.:/#@ "
_ATTEMPTS = 12  # written texts almost always match; more would slow schemas that nothing matches
_ATTEMPTS_AROUND = 200  # look-arounds are ignored by the writer and met by chance only
_AROUND = re.compile(r"\(\?<?[=!]")
_GROUP = re.compile(r"\?(?:P?<(?P<name>[A-Za-z_]\w*)>|:|[aimsux]+:|(?P<around><?[=!]))")
_CAPTURING = re.compile(r"(?<!\\)\((?!\?(?!P?<[A-Za-z_]))")
_BACK = re.compile(r"k<(\w+)>|([1-9]\d?)")
_CODED = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|c([A-Za-z])")
_MOST_ATOMS = 100_000  # nested repetitions multiply: stops before memory is full


def matching_text(pattern: str, chance: Chance, shortest: int = 0, longest: int = MAX_NUMBER) -> str | None:
    """Return a text that matches the pattern, None if none was found. Its length is within the bounds if possible."""
    matched: str | None = None
    least, more = 0, _MORE
    try:
        pattern, is_matched = _form_and_test(pattern)
        for _ in range(_ATTEMPTS_AROUND if _AROUND.search(pattern) else _ATTEMPTS):
            text = _longer(pattern, _Writer(pattern, chance, least, more).written(), shortest)
            matched = text if is_matched(text) else matched
            if matched is text and shortest <= len(text) <= longest:
                return text
            more = _MORE if shortest <= len(text) <= longest else max(0, more - 2)
            least = max(0, least + max(0, shortest - len(text)) - max(0, len(text) - longest))
    except (ValueError, IndexError):
        return matched
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


class _Writer:
    """Parses a pattern once and writes a matching text on the way."""

    def __init__(self, pattern: str, chance: Chance, least: int, more: int) -> None:
        self.pattern, self.least, self.more = pattern, least, more
        self.chance = chance
        self.at = 0
        self.atoms = 0
        self.groups: dict[str, str] = {}
        self._classes: dict[int, tuple[str, int]] = {}
        """Where a class begins -> its letters, and where it ends."""
        self.numbers = {match.end(): str(at) for at, match in enumerate(_CAPTURING.finditer(pattern), 1)}
        self.any = _PRINTABLE if _AROUND.search(pattern) else _CLASSES["w"]

    def written(self) -> str:
        return self._alternatives()

    def _alternatives(self) -> str:
        options = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            options.append(self._sequence())
        return self.chance.choice(options)

    def _sequence(self) -> str:
        parts: list[str] = []
        while self._peek() not in {"", "|", ")"}:
            start = self.at
            atom = self._atom()
            after = self.at
            count = self._count()
            end, again = self.at, [atom] if count else []
            for _ in range(count - 1):
                self.at = start
                again.append(self._atom())
            self.at = max(end, after)
            parts += again
        return "".join(parts)

    def _atom(self) -> str:
        self.atoms += 1
        if self.atoms > _MOST_ATOMS:
            raise ValueError("too long")
        sign = self.pattern[self.at]
        self.at += 1
        if sign in "^$":
            return ""
        if sign == "(":
            return self._group()
        if sign == "[":
            return self.chance.choice(self._class())
        if sign == ".":
            return self.chance.choice(self.any)
        return self._escaped() if sign == "\\" else sign

    def _group(self) -> str:
        number = self.numbers.get(self.at, "")
        match = _GROUP.match(self.pattern, self.at)
        if match is None and self.pattern.startswith("?", self.at):
            raise ValueError("group of another kind")
        self.at = self.at if match is None else match.end()
        text = self._alternatives()
        self.at += 1
        around = match["around"] if match is not None else None
        if around is not None:
            return text if around.endswith("=") and self.chance.unit() < self._repeated(around) else ""
        self.groups |= {number: text, **({match["name"]: text} if match is not None and match["name"] else {})}
        return text

    def _repeated(self, around: str) -> float:
        """Return how likely the text of a look-around is written: always where nothing else can be there."""
        return 1.0 if around == "<=" or self.at == len(self.pattern) else 0.25

    def _escaped(self) -> str:
        back = _BACK.match(self.pattern, self.at)
        if back is not None:
            self.at = back.end()
            return self.groups.get(back[1] or back[2], "")
        coded = self._coded()
        if coded is not None:
            return coded
        sign = self.pattern[self.at]
        self.at += 1
        if sign in "bB":
            return ""
        if sign in _CLASSES or sign.lower() in _CLASSES:
            return self.chance.choice(self._shorthand(sign))
        return {"n": "\n", "t": "\t"}.get(sign, sign)

    def _coded(self) -> str | None:
        """Read the code of a sign after a backslash, or None."""
        match = _CODED.match(self.pattern, self.at)
        if match is None:
            return None
        self.at = match.end()
        return chr(ord(match[3].upper()) - 64) if match[3] else chr(int(match[1] or match[2], 16))

    @staticmethod
    def _shorthand(sign: str) -> str:
        if sign in _CLASSES:
            return _CLASSES[sign]
        without = _CLASSES[sign.lower()].upper() + _CLASSES[sign.lower()]
        return "".join(letter for letter in _PRINTABLE if letter not in without)

    def _class(self) -> str:
        start = self.at
        if start not in self._classes:
            letters = self._read_class()
            self._classes[start] = letters, self.at
        letters, self.at = self._classes[start]
        return letters

    def _read_class(self) -> str:
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        letters = ""
        first = True
        while first or self.pattern[self.at] != "]":
            letters += self._class_part()
            first = False
        self.at += 1
        return "".join(letter for letter in _PRINTABLE if letter not in letters) if negated else letters

    def _class_part(self) -> str:
        low = self.pattern[self.at]
        self.at += 1
        if low == "\\":
            coded = self._coded()
            sign = self.pattern[self.at]
            self.at += coded is None
            if coded is None and sign.lower() in _CLASSES:
                return self._shorthand(sign)
            low = sign if coded is None else coded
        if self.pattern.startswith("-", self.at) and self.pattern[self.at + 1] != "]":
            high = self.pattern[self.at + 1]
            self.at += 2
            return "".join(chr(code) for code in range(ord(low), ord(high) + 1))
        return low

    def _count(self) -> int:
        """Read a quantifier, including a lazy mark. Return how often the preceding atom is repeated."""
        match = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})[?+]?").match(self.pattern, self.at)
        if match is None:
            return 1
        self.at = match.end()
        low = int(match[2]) if match[2] else int(match[1][0] == "+")
        open_ended = match[1] in {"*", "+"} or (match[3] and not match[4])
        if open_ended:
            low = low + self.least
            return self.chance.between(low, low + self.more)
        most = 1 if match[1] == "?" else int(match[4]) if match[4] else low
        low = min(low + self.least, most)
        return self.chance.between(low, min(most, low + self.more))

    def _peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""
