"""How far is a record: which of its steps has it come to, and is it over?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.words import snake, vocabulary

_STATUS = ("status", "state", "stage", "phase")
ENDED = vocabulary(
    "closed done completed complete resolved finished delivered paid won lost cancelled canceled rejected archived "
    "merged returned refunded churned expired fulfilled ended approved declined converted settled arrived departed "
    "discharged no_show missed checked_out failed"
)
"""States after which nothing more is to be done."""

TO_COME = vocabulary("scheduled upcoming planned boarding booked")
"""States of what has not happened yet."""

_DONE = vocabulary("closed done completed complete resolved finished ended fulfilled merged settled won delivered")
_ASIDE = vocabulary(
    "cancelled canceled rejected deleted archived failed refunded returned voided declined lost churned discharged"
)
_STEP = re.compile(
    r"(?:date_)?(closed|completed|resolved|finished|ended|cancelled|canceled|rejected|deleted|archived|failed|refunded|"
    r"returned|discharged|voided|declined|merged|paid|shipped|delivered|approved|confirmed|fulfilled|published|accepted|captured|"
    r"settled|won|lost|signed|activated|deactivated|suspended|revoked)(?:_(?:at|on|date|time))?"
)


@lru_cache(maxsize=4096)
def step_of(name: str) -> str | None:
    """The step that a time field (`closed_at`) tells of; None where it tells of none."""
    found = _STEP.fullmatch(snake(name))
    return found[1] if found else None


def status_of(record: Record) -> str | None:
    """What the record says of its own state."""
    for name in _STATUS:
        value: Json = record.get(name)
        if isinstance(value, str):
            return snake(value)
    return None


def is_over(record: Record) -> bool:
    """Is nothing more to be done about it?"""
    status = status_of(record)
    if status is not None:
        return status in ENDED
    return any(record.get(name) is True for name in ("completed", "done", "closed", "is_completed", "archived"))


def has_come_to(step: str, record: Record, steps: Sequence[str]) -> bool | None:
    """Has the record come to this step? `steps` are its possible states in order. None where nothing tells."""
    flag = next((record[name] for name in (step, f"is_{step}") if isinstance(record.get(name), bool)), None)
    if flag is not None:
        return flag
    status = status_of(record)
    if status is None:
        return False if step == "deleted" else None
    if status == step or (step in _DONE and step not in steps and status in _DONE):
        return True
    if step in _ASIDE or status in _ASIDE or step not in steps or status not in steps:
        return False
    return steps.index(status) > steps.index(step)
