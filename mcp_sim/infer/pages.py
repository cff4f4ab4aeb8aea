"""Which arguments of a tool choose a page?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mcp_sim.infer.customary import CURSORS, LIMITS, OFFSETS, PAGES
from mcp_sim.infer.envelopes import ROW_NAMES
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.words import plural, snake, words
from mcp_sim.types.plans import Paging

NO_PAGING = Paging()
_MOST = re.compile(
    r"\b(?:at most|up to|a maximum of|limited to|the (?:first|top|last)) (\d{1,4}) ((?:\w+ ){0,3})"
    r"|\b(\d{1,4}) most (?:recent|relevant) ((?:\w+ ){0,2})",
    re.IGNORECASE,
)
"""How a description says how many records are told at most."""


def is_paged(schema: Record) -> bool:
    """Does a tool show pages, so that its result says more than the rows of one?"""
    return not {snake(name) for name in properties(schema)}.isdisjoint(OFFSETS | PAGES | CURSORS)


def is_limited(schema: Record) -> bool:
    """May a tool show fewer rows than there are?"""
    return is_paged(schema) or not {snake(name) for name in properties(schema)}.isdisjoint(LIMITS)


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


def bounded(paging: Paging, about: str, entity: str) -> Paging:
    """The same, of a tool that has no argument for a page and is said to tell no more than so many: `at most 5`."""
    told = _MOST.finditer(re.sub(r"[.,;:)\n]", " ", about)) if not paging.is_asked else ()
    for hit in told:
        most, what = int(hit[1] or hit[3]), {*words((hit[2] or hit[4] or "").lower())}
        if most and what & {*ROW_NAMES, "ones", plural(entity.rsplit("_", 1)[-1])}:
            return replace(paging, size=most, most=most)
    return paging


def _of_type(
    by_name: Mapping[str, str], arguments: Mapping[str, Record], names: frozenset[str], types: tuple[str, ...]
) -> str | None:
    return next((by_name[n] for n in by_name if n in names and main_type(arguments[by_name[n]]) in types), None)
