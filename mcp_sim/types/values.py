"""What is a value, a record, a key?"""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys. Never mutated once it is in a world."""

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = str | int
