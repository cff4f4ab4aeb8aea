"""Generate texts that match a regular expression of a JSON Schema.

Literals, classes, groups, alternatives and quantifiers are supported; look-around and back-references are not. Every
result is matched against the expression.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import MAX_LENGTH, MAX_NUMBER
from mcp_sim.types.json_schema.validation import compiled, compiles

_MORE = 4
_CLASSES = {"d": string.digits, "w": string.ascii_lowercase + string.digits, "s": " "}
_PRINTABLE = string.ascii_letters + string.digits + "-_.:/#@ "
_ATTEMPTS = 12
_MOST_ATOMS = 10_000


def matching_text(pattern: str, chance: Chance, shortest: int = 0, longest: int = MAX_NUMBER) -> str | None:
    """Return a text that matches the pattern, None if none was found. Its length is within the bounds if possible."""
    found: str | None = None
    least, more = 0, _MORE
    try:
        is_matched = _test(pattern)
        for _ in range(_ATTEMPTS):
            text = _longer(pattern, _Writer(pattern, chance, least, more).written(), shortest)
            found = text if is_matched(text) else found
            if found is text and shortest <= len(text) <= longest:
                return text
            more = _MORE if shortest <= len(text) <= longest else max(0, more - 2)
            least = max(0, least + max(0, shortest - len(text)) - max(0, len(text) - longest))
    except (ValueError, IndexError):
        return found
    return found


@lru_cache(maxsize=256)
def _test(pattern: str) -> Callable[[str], bool]:
    """Return a test whether the pattern matches a text. Raises `ValueError` if it is no valid pattern."""
    if not compiles(pattern):
        raise ValueError("no pattern")
    return compiled({"pattern": pattern}).is_valid


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
            part = self._atom()
            after = self.at
            count = self._count()
            end, again = self.at, [part] if count else []
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
            return self.chance.choice(_CLASSES["w"])
        return self._escaped() if sign == "\\" else sign

    def _group(self) -> str:
        if self.pattern.startswith("?", self.at):
            named = re.compile(r"\?:|\?P?<\w+>").match(self.pattern, self.at)
            if named is None:
                raise ValueError("look-around")
            self.at = named.end()
        text = self._alternatives()
        self.at += 1
        return text

    def _escaped(self) -> str:
        sign = self.pattern[self.at]
        self.at += 1
        if sign in "bB":
            return ""
        if sign in _CLASSES or sign.lower() in _CLASSES:
            return self.chance.choice(self._shorthand(sign))
        if sign.isdigit():
            raise ValueError("back-reference")
        return {"n": "\n", "t": "\t"}.get(sign, sign)

    @staticmethod
    def _shorthand(sign: str) -> str:
        if sign in _CLASSES:
            return _CLASSES[sign]
        without = _CLASSES[sign.lower()].upper() + _CLASSES[sign.lower()]
        return "".join(letter for letter in _PRINTABLE if letter not in without)

    def _class(self) -> str:
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
            sign = self.pattern[self.at]
            self.at += 1
            if sign.lower() in _CLASSES:
                return self._shorthand(sign)
            low = sign
        if self.pattern.startswith("-", self.at) and self.pattern[self.at + 1] != "]":
            high = self.pattern[self.at + 1]
            self.at += 2
            return "".join(chr(code) for code in range(ord(low), ord(high) + 1))
        return low

    def _count(self) -> int:
        """Read a quantifier, including a lazy mark. Return how often the preceding atom is repeated."""
        found = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})[?+]?").match(self.pattern, self.at)
        if found is None:
            return 1
        self.at = found.end()
        low = int(found[2]) if found[2] else int(found[1][0] == "+")
        open_ended = found[1] in {"*", "+"} or (found[3] and not found[4])
        if open_ended:
            low = low + self.least
            return self.chance.between(low, low + self.more)
        most = 1 if found[1] == "?" else int(found[4]) if found[4] else low
        low = min(low + self.least, most)
        return self.chance.between(low, min(most, low + self.more))

    def _peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""
