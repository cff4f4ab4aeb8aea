"""What can a result speak of?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.backends.records.batches import Batch
from mcp_sim.backends.records.pages import Page
from mcp_sim.types import Json, Key, Observation, Record, Turn, View

EMPTY = Page((), 0)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a result can speak of. `view` is the state that it shows: after the call's own changes.

    `record` and `key` are those of the one record, `page` the rows of a list, `batch` what became of several items.
    """

    turn: Turn
    view: View
    record: Record | None = None
    key: Key | None = None
    page: Page = EMPTY
    batch: Batch | None = None


Fill: TypeAlias = Callable[[Facts], Json]
Told: TypeAlias = Callable[[Facts], Observation]
