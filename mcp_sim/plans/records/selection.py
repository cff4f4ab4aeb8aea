"""Select the rows of a list or a search: filters, text, order and page, over a view of the state."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

from mcp_sim.plans.records.accepted_keys import Accept, acceptance
from mcp_sim.plans.records.arguments import Link, argument, resolve_links
from mcp_sim.plans.records.filters import matching_rows
from mcp_sim.plans.records.ordering import Row, ordering
from mcp_sim.plans.records.search_terms import query_argument, term_parser
from mcp_sim.plans.refusal import invalid
from mcp_sim.types import Json, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.json_values import canonical
from mcp_sim.types.plans import Plan

Select: TypeAlias = Callable[[Turn], "Page | Observation"]

_LONGEST_OFFSET = 18  # no list has as many rows, and int() is slow for long texts


@frozen
class Page:
    """The rows of a page, the total of all pages, and the position of the page."""

    rows: Sequence[Row]
    total: int
    offset: int = 0
    limit: int | None = None
    cursor: str | None = None

    @property
    def has_more(self) -> bool:
        return self.offset + len(self.rows) < self.total


def pager(tool: Tool, plan: Plan) -> Callable[[Sequence[Row], Mapping[str, Json]], Page | Observation]:
    """Compile the choice of a page by the arguments.

    Without paging arguments it returns all rows, up to the maximum.
    """
    paging = plan.paging
    if not paging.is_asked:
        return lambda rows, _arguments: Page(rows[: paging.most], len(rows))
    limits, offsets = argument(paging.limit or ""), argument(paging.offset or "")
    pages, cursors = argument(paging.page or ""), argument(paging.cursor or "")
    is_declared = "paging" in plan.basis and plan.basis["paging"].source == "declared"
    paging_names = frozenset({paging.limit, paging.offset, paging.page, paging.cursor})

    def paged(rows: Sequence[Row], arguments: Mapping[str, Json]) -> Page | Observation:
        wrong = next((name for name in paging_names if name and _is_negative(arguments.get(name))), None)
        if wrong is not None:
            value = arguments[wrong]
            return invalid(tool, wrong, value, f"{wrong} must not be negative, but is {value}")
        limit = _integer_or(limits(arguments), paging.size)
        limit = limit if paging.most is None else min(limit, paging.most)
        offset = _integer_or(offsets(arguments), 0)
        offset += max(0, _integer_or(pages(arguments), paging.first_page) - paging.first_page) * limit
        cursor = cursors(arguments)
        if isinstance(cursor, str) and cursor:
            start = _read_cursor(cursor, _query_digest(arguments, paging_names))
            if start is None and is_declared:
                return invalid(tool, paging.cursor, cursor, f"Invalid {paging.cursor}: {cursor!r}")
            offset += start or 0
        chosen = rows[offset : offset + limit]
        more = offset + len(chosen) < len(rows) and bool(chosen)
        following = (
            _cursor(offset + len(chosen), _query_digest(arguments, paging_names)) if more and paging.cursor else None
        )
        return Page(chosen, len(rows), offset, limit, following)

    return paged


def _is_negative(value: Json) -> bool:
    return isinstance(value, int | float) and value < 0


def _integer_or(value: Json, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _cursor(offset: int, digest: str) -> str:
    """Return an opaque cursor: the offset of the next page, bound to the query."""
    return base64.urlsafe_b64encode(f"{offset}.{digest}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str, digest: str) -> int | None:
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    offset, _, asked = text.partition(".")
    return int(offset) if offset.isdigit() and len(offset) <= _LONGEST_OFFSET and asked == digest else None


def _query_digest(arguments: Mapping[str, Json], paging_names: frozenset[str | None]) -> str:
    """Return a digest of the arguments except those of paging, so that a cursor fits only its own query."""
    kept = {name: value for name, value in arguments.items() if name not in paging_names}
    return sha256(canonical(kept).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def selector(tool: Tool, plan: Plan, entity: Entity, *, any_field: bool = False) -> Select:
    """Compile the selection of rows. It returns a page, or a failure if the query is invalid."""
    matching = matching_rows(tool, plan, entity, any_field=any_field)
    order, paged = ordering(tool, plan, entity), pager(tool, plan)
    sort, direction = argument(plan.paging.sort or ""), argument(plan.paging.order or "")
    query, parse_terms = query_argument(plan), term_parser(entity)

    def select(turn: Turn) -> Page | Observation:
        arguments = turn.call.arguments
        hits = matching(turn.view, arguments)
        words = " ".join(parse_terms(query(arguments)).words)
        return paged(order(hits, sort(arguments), direction(arguments), words), arguments)

    return select


def parent_check(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Observation | None]:
    """Compile the check that the records that required filters refer to exist, or may exist."""
    fields = domain.entities[plan.entity or ""].fields
    equal = {path: rule.field for path, rule in plan.filters.items() if rule.op == "equals"}
    needed = {path: fields.get(name) for path, name in equal.items() if path in required(tool.input_schema)}
    return existence_check(
        tool, {path: field.link or "" for path, field in needed.items() if field is not None}, domain
    )


def existence_check(tool: Tool, named: Mapping[str, str], domain: Domain) -> Callable[[Turn], Observation | None]:
    """Compile the check that the records that arguments name exist, or may exist. `named` has their entities."""
    targets = {path: domain.entities.get(entity) for path, entity in named.items()}
    links = [
        (Link(path, target, path), argument(path), acceptance(target, path, domain))
        for path, target in targets.items()
        if target is not None
    ]

    def is_refused(view: View, target: Entity, value: Json, accepts: Accept) -> bool:
        """Whether there are records, or were some at the beginning, and no other may exist."""
        is_known = target.name in domain.given or view.count(target.name) > 0
        return value is not ABSENT and is_known and not (isinstance(value, str | int) and accepts(view, value))

    def missing(turn: Turn) -> Observation | None:
        values: Record = {link.field: fetch(turn.call.arguments) for link, fetch, _ in links}
        asked = [link for link, _, accepts in links if is_refused(turn.view, link.target, values[link.field], accepts)]
        observation = resolve_links(turn, tool, asked, values)
        return observation if isinstance(observation, Observation) else None

    return missing
