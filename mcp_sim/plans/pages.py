"""Which arguments of a tool choose a page?"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.domain import Paging
from mcp_sim.plans.customary import CURSORS, LIMITS, OFFSETS, PAGES
from mcp_sim.schemas import main_type, properties
from mcp_sim.types import Record
from mcp_sim.words import snake

NO_PAGING = Paging()


def is_paged(schema: Record) -> bool:
    """Does a tool show pages, so that its result says more than the rows of one?"""
    return not {snake(name) for name in properties(schema)}.isdisjoint(OFFSETS | PAGES | CURSORS)


def paging_of(by_name: Mapping[str, str], arguments: Mapping[str, Record]) -> Paging:
    limit = _of_type(by_name, arguments, LIMITS, ("integer", "number"))
    page = _of_type(by_name, arguments, PAGES, ("integer", "number"))
    about = arguments.get(limit or "", {})
    most, size = about.get("maximum"), about.get("default")
    return Paging(
        limit=limit,
        offset=_of_type(by_name, arguments, OFFSETS, ("integer", "number")),
        page=page,
        cursor=_of_type(by_name, arguments, CURSORS, ("string",)),
        size=int(size) if isinstance(size, int | float) and size > 0 else min(20, int(most or 20)),
        most=int(most) if isinstance(most, int | float) else None,
        first_page=0 if 0 in (arguments.get(page or "", {}).get(word) for word in ("default", "minimum")) else 1,
    )


def _of_type(
    by_name: Mapping[str, str], arguments: Mapping[str, Record], names: frozenset[str], types: tuple[str, ...]
) -> str | None:
    return next((by_name[n] for n in by_name if n in names and main_type(arguments[by_name[n]]) in types), None)
