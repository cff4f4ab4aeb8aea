"""The names of keys with secret values, and the patterns of secrets in texts, as `secrets.yaml` lists them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import log2
from pathlib import Path
from typing import Any, TypeAlias
from unicodedata import normalize

import yaml
from pydantic import BaseModel, ConfigDict

from mcp_sim.types.errors import UsageError

Words: TypeAlias = tuple[str, ...]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INVISIBLE = re.compile(r"[\u00ad\u0300-\u036f\u200b-\u200f\u2060\ufeff]")
SHORTEST_RANDOM = 10  # in a shorter text, a digit or two make a random one of a word
_LONGEST_NAME = 80  # a longer key is data, not the name of a credential

re2: Any = import_module("re2")
"""Searches in linear time, whatever the pattern. The package has no types."""


class SecretWords(BaseModel):
    """The contents of `secrets.yaml`."""

    model_config = ConfigDict(extra="forbid")

    keys: list[str]
    endings: list[str]
    not_keys: list[str]
    numbers: frozenset[str]
    not_values: frozenset[str]
    patterns: dict[str, str]


@cache
def secret_words() -> SecretWords:
    """Return the words and patterns that are known."""
    return SecretWords.model_validate(yaml.safe_load(Path(__file__).with_name("secrets.yaml").read_bytes()))


class SecretKeys:
    """The names whose values are secret: the known ones, and `further` ones."""

    def __init__(self, further: Iterable[str] = ()) -> None:
        known = secret_words()
        self._secret = {words_of(name) for name in (*known.keys, *further)} - {()}
        self._endings = tuple(known.endings)
        self._open = {words_of(name) for name in known.not_keys} - {words_of(name) for name in further}
        self.kind = lru_cache(4096)(self._kind)

    def _kind(self, name: str) -> str | None:
        """Return the kind of secret that a key of this name holds, as in `api-key`; None if it holds none."""
        words = words_of(name)
        ends = [words[at:] for at in range(len(words))]
        if any(end in self._open for end in ends):
            return None
        glued = words[-1] if words and words[-1].endswith(self._endings) else None
        return next(("-".join(end) for end in ends if end in self._secret), glued)

    def names_a_secret(self, name: str) -> bool:
        """Whether a variable of this name may hold a secret: one of the words may be anywhere in it."""
        words = words_of(name)
        return words[-1:] == ("key",) or any(
            words[at:end] in self._secret for at in range(len(words)) for end in range(at + 1, len(words) + 1)
        )

    def holds_numbers(self, kind: str) -> bool:
        """Whether numbers under a key of this kind are secret, too."""
        return kind in secret_words().numbers


def words_of(name: str) -> Words:
    """Return the words of a name, in lower case: `X-Api-Key` and `xApiKey` are `x`, `api`, `key`."""
    if len(name) > _LONGEST_NAME:
        return ()
    plain = name if name.isascii() else _INVISIBLE.sub("", normalize("NFKD", name))  # without accents
    return tuple(word.lower() for word in _WORD.findall(plain))


def is_open_value(text: str) -> bool:
    """Whether a value is not secret, whatever its key: an empty text, or a word such as `required`."""
    return text.strip().lower() in secret_words().not_values or not text.strip()


@cache
def _service_rules() -> Sequence[tuple[str, str, Words, float]]:
    """Return the rules of services: name, pattern, words (a text has at least one), and the least entropy."""
    rules: list[dict[str, Any]] = json.loads(Path(__file__).with_name("gitleaks.json").read_bytes())["rules"]
    return [(rule["id"], rule["pattern"], (*rule["keywords"],), rule.get("entropy", 0.0)) for rule in rules]


def service_patterns(text: str) -> Iterator[tuple[str, Any, float]]:
    """Yield name, pattern and least entropy of the rules that may find the key of a service in a text."""
    lowered = text.lower()
    for name, pattern, keywords, entropy in _service_rules():
        if any(word in lowered for word in keywords):
            yield name, _compiled(pattern), entropy


@cache
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


def entropy_of(text: str) -> float:
    """Return the bits per character of a text, by which random ones differ from words."""
    return -sum(count / len(text) * log2(count / len(text)) for count in Counter(text).values())


_SWITCH = re.compile(r"(?<=[a-z])[A-Z\d]|(?<=[A-Z])\d|(?<=\d)[A-Za-z]")
"""Where a text goes from a small letter to a capital, or between letters and digits."""


def is_random(text: str) -> bool:
    """Whether a text is neither words nor numbers: in those, a sixth of the characters never switch to another kind.

    Random hexadecimal digits switch at every second character, names such as `base_tokenizer_v2` at every tenth.
    """
    return len(text) >= SHORTEST_RANDOM and len(_SWITCH.findall(text)) * 6 >= len(text)


def compiled_patterns(further: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the patterns by their kind. Raises `UsageError` for an invalid further one."""
    patterns = {kind: re2.compile(pattern) for kind, pattern in secret_words().patterns.items()}
    for number, pattern in enumerate(further, 1):
        try:
            patterns[f"pattern{number}" if len(further) > 1 else "pattern"] = re2.compile(pattern)
        except (re2.error, UnicodeEncodeError) as error:
            first = error.args[0]
            reason = first.decode() if isinstance(first, bytes) else error
            raise UsageError(f"--redact-pattern {pattern!r}: {reason}") from None
    return patterns
