"""Learn how many rows the lists of a server show."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_USUAL_SIZES = (50, 100, 200, 500, 1000)
"""A recorded list that shows more rows than inferred, and perhaps all of them, shows that its page has at least as
many. Servers choose round numbers."""


def page_sizes(samples: Sequence[Sample]) -> dict[str, Record]:
    """Return the `paging` of each list whose size differs from the inferred one, as a spec declares it under `sim:`."""
    sizes = dict[str, Record]()
    for tool in dict.fromkeys(sample.tool for sample in samples):
        calls = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
        paging = _page_size(calls) if calls and not calls[0].plan.choices else {}
        sizes |= {tool: {"paging": paging}} if paging else {}
    return sizes


def _page_size(calls: Sequence[Sample]) -> Record:
    """Return how many rows a list shows if no argument says how many: as many as the fullest pages have.

    Two equally full pages of a longer list show a limit. One could be all that matches.
    """
    paging = calls[0].plan.paging
    unlimited = [call for call in calls if paging.limit not in call.arguments and call.plan.verb in ("list", "search")]
    pages = [(rows, call) for call in unlimited if (rows := _number_of_rows(call)) is not None]
    fullest = max((rows for rows, _ in pages), default=0)
    full = [call for rows, call in pages if rows == fullest]
    total = max((int(call.scope.facts.get("total", 0)) for call in full), default=0)
    size = "size" if paging.is_asked else "most"
    if 0 < fullest < total and len(full) > 1 and getattr(paging, size) != fullest:
        return {size: fullest}
    if paging.is_asked and fullest > paging.size:
        return {"size": next((size for size in _USUAL_SIZES if size >= fullest), fullest)}
    return {}


def _number_of_rows(call: Sample) -> int | None:
    """Return the number of items in the only list of a recorded answer, or None if it does not have exactly one."""
    values: Sequence[Json] = [*as_object(call.value).values()] or [call.value]
    lists = [as_list(value) for value in values if isinstance(value, list)]
    return len(lists[0]) if len(lists) == 1 and call.served else None
