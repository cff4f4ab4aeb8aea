"""Leave the data of recorded worlds out of templates: another world has other records."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import cast

from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.observed import key_of, leaves
from mcp_sim.types import Json, Record
from mcp_sim.types.result_templates import ROWS, SLOT, replaced_path

_NAME = re.compile(r"[A-Za-z][\w-]*")
_MOSTLY = 0.35
"""The share of data from which on an item of a list shows a record rather than a part of the answer."""


def without_data(template: Json, data: Container[str], name: str = "") -> Json:
    """Return a JSON template with slots for constants that are ids or data. Lists with such constants are empty."""
    if isinstance(template, dict):
        return _object(cast("Record", template), data, name)
    if isinstance(template, list):
        return _list(cast("list[Json]", template), data, name)
    if isinstance(template, str) and (match := SLOT.fullmatch(template)) is not None and match[3] in data:
        return template.replace(f"??{match[3]}", "")
    return _slot(name) if _is_data(name, template, data) else template


def _list(items: list[Json], data: Container[str], name: str) -> list[Json]:
    """Return a list of constants without data: as it is, or one item if that is mostly fixed, or nothing."""
    shares = [_share_of_data(item, data, name) for item in items]
    if not any(shares):
        return items
    return [without_data(items[0], data, name)] if 0 < shares[0] < _MOSTLY else []


def _share_of_data(item: Json, data: Container[str], name: str) -> float:
    verdicts = [_is_data(key_of(path) or name, leaf, data) for path, leaf in leaves(item)]
    return sum(verdicts) / max(1, len(verdicts))


def _object(template: Record, data: Container[str], name: str) -> Json:
    """Return an object without data. If it has some, it shows a record, and its other constants may differ, too."""
    names = {key: name if key == ROWS else replaced_path({key: None}) or key.rstrip("?") for key in template}
    if not any(_is_data(names[key], value, data) for key, value in template.items()):
        return {key: without_data(value, data, names[key]) for key, value in template.items()}
    return {key: _of_record(names[key], value, data) for key, value in template.items()}


def _of_record(name: str, value: Json, data: Container[str]) -> Json:
    """Return the template of a field: its value, else the constant that was recorded unless that is data."""
    is_fixed = value is None or (isinstance(value, str) and not set(value) & set("{}?\n"))
    if not is_fixed or _NAME.fullmatch(name) is None or _is_data(name, value, data):
        return without_data(value, data, name)
    return _slot(name) if value is None else f"{{{name}??{value}}}"


def _slot(name: str) -> Json:
    return f"{{{name}}}" if _NAME.fullmatch(name) else None


def _is_data(name: str, value: Json, data: Container[str]) -> bool:
    if isinstance(value, str) and SLOT.search(value):
        return False
    return is_id(name, value) or (isinstance(value, str) and value.strip() in data)
