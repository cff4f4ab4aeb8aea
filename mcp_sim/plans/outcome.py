"""What an operation returns: a text, and facts by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_sim.types import Json
from mcp_sim.types.json_values import encode


@dataclass(slots=True)
class Outcome:
    """The outcome of an operation, independent of the form in which a tool shows it."""

    wording: str | Callable[[], str]
    """The answer as a sentence or as lines; a function where these are costly, as the lines of a long list are."""
    facts: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """What a result may show, under names of the backend's own."""
    main: str = ""
    """The name of the main fact; empty: all facts together are the answer."""
    is_json: bool = False
    """Whether the main fact (all facts, if there is no main one) is shown as JSON where no form is known."""
    guessed: bool = False
    """Whether it is a guess, as a translation is."""

    @property
    def text(self) -> str:
        """The answer as a sentence or as lines."""
        return self.wording if isinstance(self.wording, str) else self.wording()

    @property
    def value(self) -> Json:
        """The main fact, or all facts if there is no main one."""
        return self.facts[self.main] if self.main else dict(self.facts)


def shown(value: Json) -> str:
    """Return a value as a failure shows it: a text in single quotes, anything else as JSON."""
    return repr(value) if isinstance(value, str) else encode(value).decode()


def as_text(value: Json) -> str:
    """Render a value as text."""
    return value if isinstance(value, str) else encode(value).decode()


def done(sentence: str, **facts: Json) -> Outcome:
    """Return an outcome that is a sentence."""
    return Outcome(sentence, facts)
