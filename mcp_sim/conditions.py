"""Conditions on values: matchers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Matcher: TypeAlias = Callable[[Any], bool]
"""Does a JSON value satisfy the condition? An absent value is passed as `ABSENT`."""
