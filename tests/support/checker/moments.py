"""Times in the different forms of services."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from support.checker.ledger import Json

_PLAIN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def moment(value: Json) -> datetime | None:
    """Parse ISO texts with a time of day, and epoch seconds or milliseconds of this century; else None."""
    if isinstance(value, str) and _PLAIN.match(value):
        return _of_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC) if 9e8 < seconds < 4.2e9 else None
    return None


def grain(value: Json) -> float:
    """Return the seconds of precision that the form of a time loses."""
    if isinstance(value, str):
        return 1.0 if re.search(r"\d\d:\d\d:\d\d", value) else 60.0
    return 1.0


def _of_text(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
