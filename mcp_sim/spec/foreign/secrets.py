"""Secrets: redact them from messages, and fill them in from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from mcp_sim.types.frozen import frozen

MASK = "***"
_SHORTEST = 4  # shorter values occur in other texts by chance
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|passphrase|api.?key|auth|credential|bearer|(?:^|[_-])key$")
_LIKE_A_SECRET = re.compile(r"[A-Za-z0-9_.~+/=-]{20,}")
_OWN_SECRETS = re.compile(
    r"MCP_SIM_.*|(OPENAI|AZURE_OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|MISTRAL|COHERE|GROQ|TOGETHER|FIREWORKS|DEEPSEEK"
    r"|OPENROUTER|XAI|PERPLEXITY|CEREBRAS|NVIDIA|REPLICATE|HF|HUGGINGFACE|HUGGING_FACE\w*)_(\w+_)?(KEY|TOKEN)"
)
"""The variables with settings and tokens of mcp-sim, and with keys of language models."""


def without_own_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what servers that mcp-sim starts get of its environment. What they need else, they are given by name."""
    return {name: value for name, value in environment.items() if not _OWN_SECRETS.fullmatch(name)}


@frozen
class Secrets:
    """The values that are redacted, wherever they appear in a text."""

    values: frozenset[str]

    def redact(self, text: str) -> str:
        """Return the text with the values masked; longer ones first, since they may contain shorter ones."""
        for value in sorted(self.values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text


def find_secrets(words: Iterable[str], values: Iterable[str], headers: Mapping[str, str]) -> Secrets:
    """Return what must not be shown of a command or URL and of headers. `values` are secret as a whole."""
    secrets = {*values, *headers.values(), *_in_words(list(words))}
    secrets |= {piece for value in headers.values() for piece in value.split()}
    return Secrets(frozenset(value for value in secrets if len(value) >= _SHORTEST))


def _in_words(words: list[str]) -> Iterator[str]:
    before = ""
    for word in words:
        name, sign, value = word.partition("=")
        if "://" in word:
            yield from _in_url(word)
        elif _SECRET_NAME.search(name) and name.startswith("-") and sign:
            yield value
        elif before.startswith("-") and _SECRET_NAME.search(before) and "=" not in before and not word.startswith("-"):
            yield word
        elif _LIKE_A_SECRET.fullmatch(value or word) and re.search(r"\d", word) and "/" not in word:
            yield value or word
        before = word


def _in_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    for value in (parts.username, parts.password):
        if value:
            yield from (value, unquote(value))
    yield from (value for _, value in parse_qsl(parts.query))
    yield from (piece for piece in parts.query.split("&") if piece)


# placeholders ---------------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"\$\{(?P<kind>env:|input:|user_config\.)?(?P<name>[^}:]+?)(?::-(?P<otherwise>[^}]*))?\}")


class MissingValue(Exception):
    """A placeholder has no value; `variable` is the environment variable that would give it one."""

    def __init__(self, place: str, variable: str) -> None:
        self.place, self.variable = place, variable
        super().__init__(f"{place} has no value: set the environment variable {variable}")


def fill_placeholders(text: str, environment: Mapping[str, str], folders: Mapping[str, str] | None = None) -> str:
    """Return the text with its placeholders filled in: `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`.

    What a client asks its user (`${input:name}`, `${user_config.name}`) is taken from the variable NAME, in capitals.
    `folders` has further names, such as `workspaceFolder`. Raises `MissingValue`.
    """

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if folders is not None and name in folders:
            return folders[name]
        variable = re.sub(r"\W", "_", name).upper() if match["kind"] in ("input:", "user_config.") else name
        given = environment.get(variable) or match["otherwise"]
        if given is None:
            raise MissingValue(match[0], variable)
        return given

    return _PLACE.sub(value, text)
