"""Functions that count, change and compare texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import words

MAX_LENGTH = 10_000_000
"""The largest number of characters of a text that is composed of others."""

_MOST_PAIRS = 4_000_000
_SLOT = re.compile(r"{{?\s*(\w+)\s*}?}")


def count_words(text: str) -> int:
    """Return the number of words, separated by white space."""
    return len(text.split())


def count_lines(text: str) -> int:
    """Return the number of lines."""
    return len(text.splitlines())


def reverse(text: str) -> str:
    """Return the characters in reverse order."""
    return text[::-1]


def convert_case(text: str, case: str) -> str:
    """Return a text in a case such as title, snake or camelCase. Raises `Refused` if the case is unknown."""
    wanted, parts = case.lower().replace("case", "").strip(" _-"), words(text)
    forms: dict[str, str] = {
        "upper": text.upper(), "lower": text.lower(), "title": text.title(),
        "sentence": text[:1].upper() + text[1:].lower(),
        "capitalize": text.capitalize(), "snake": "_".join(parts), "kebab": "-".join(parts), "swap": text.swapcase(),
        "camel": "".join([*parts[:1], *(part.title() for part in parts[1:])]),
        "pascal": "".join(part.title() for part in parts),
        "constant": "_".join(parts).upper(),
    }  # fmt: skip
    if wanted not in forms:
        raise Refused("invalid", f"Unknown case {case!r}. Supported: {', '.join(forms)}")
    return forms[wanted]


def slug(text: str) -> str:
    """Return a text as a part of an address: lower case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def text_statistics(text: str) -> Json:
    """Return the numbers of characters, words, sentences, lines and paragraphs of a text."""
    sentences = [part for part in re.split(r"[.!?]+(?:\s|$)", text) if part.strip()]
    return {
        "characters": len(text),
        "characters_without_spaces": len(re.sub(r"\s", "", text)),
        "words": len(text.split()),
        "sentences": len(sentences),
        "lines": len(text.splitlines()),
        "paragraphs": len([part for part in re.split(r"\n\s*\n", text) if part.strip()]),
    }


def format_json(text: str) -> str:
    """Return a JSON text with indentation. Raises `Refused` if it is invalid."""
    return json.dumps(_parsed(text), indent=2, ensure_ascii=False)


def validate_json(text: str) -> Json:
    """Return whether a text is valid JSON, and the error if it is not."""
    try:
        _parsed(text)
    except Refused as wrong:
        return {"valid": False, "error": str(wrong).removeprefix("Invalid JSON: ")}
    return {"valid": True}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise Refused("invalid", "Invalid JSON: it nests too deeply") from None
    except ValueError as wrong:
        raise Refused("invalid", f"Invalid JSON: {wrong}") from None


def fill_template(template: str, values: Mapping[str, Json]) -> str:
    """Return a template with values in its slots, `{name}` or `{{name}}`.

    Raises `Refused` if a value is missing or the result is too long.
    """
    texts = {name: str(value) for name, value in values.items()}
    wanted = _SLOT.findall(template)
    lacking = [name for name in wanted if name not in texts]
    if lacking:
        raise Refused("invalid", f"Missing values for {', '.join(dict.fromkeys(lacking))}")
    check_length(len(template) + sum(len(texts[name]) for name in wanted))
    return _SLOT.sub(lambda slot: texts[slot[1]], template)


def repeat_text(text: str, count: float, separator: str | None = None) -> str:
    """Return a text several times, with a separator between. Raises `Refused` if the result is too long."""
    between, times = separator or "", max(0, int(count))
    check_length((len(text) + len(between)) * times)
    return between.join([text] * times)


def edit_distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two texts. Raises `Refused` if they are too long."""
    if len(first) * len(second) > _MOST_PAIRS:
        check_length(MAX_LENGTH + 1)
    row = list(range(len(second) + 1))
    for at, sign in enumerate(first, 1):
        before, row = row, [at]
        for place, other in enumerate(second, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (sign != other)))
    return row[-1]


def check_length(length: int) -> None:
    """Raise `Refused` if a composed text would be too long."""
    if length > MAX_LENGTH:
        raise Refused("invalid", f"The result is too long; at most {MAX_LENGTH:,} characters are possible")
