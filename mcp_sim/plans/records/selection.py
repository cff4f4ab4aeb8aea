"""Select the rows of a list or a search: filters, text, order and page, over a view of the state."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, TypeAlias

from mcp_sim.generate.time_fields import event_of, time_meaning
from mcp_sim.plans.infer.states import FINAL, find_deadline
from mcp_sim.plans.records.accepted_keys import Accept, acceptance
from mcp_sim.plans.records.arguments import Fetch, Link, argument, finder_for, resolve_links
from mcp_sim.plans.records.filters import Row, matching_rows, query_argument, term_parser
from mcp_sim.plans.refusal import invalid
from mcp_sim.types import Json, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, main_type, properties, property_of, required
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import example_of, parse_time, seconds_of, time_format

Select: TypeAlias = Callable[[Turn], "Page | Observation"]
_STATES = terms("fields.state")
_NEWEST, _OLDEST, _RECENT = terms("arguments.newest"), terms("arguments.oldest"), terms("phrases.recent")
_NEWEST_FIRST = re.compile(
    r"\b(?:most recent|newest|latest) first\b|\b\d+ (?:most recent|newest|latest)\b|\bnewest to oldest\b"
    r"|\breverse chronological",
    re.IGNORECASE,
)
_DIRECTION = re.compile(r"[\s:_.](asc|desc)(?:ending)?\Z", re.IGNORECASE)
_BETWEEN = " \t\r\n:_."
_NAMES = ("name", "title", "subject", "full_name", "display_name", "summary")

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


NO_ROWS = Page((), 0)


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
    names = tuple(filter(None, (paging.limit, paging.offset, paging.page, paging.cursor)))

    def paged(rows: Sequence[Row], arguments: Mapping[str, Json]) -> Page | Observation:
        negative = next((name for name in names if _is_negative(arguments.get(name))), None)
        if negative is not None:
            value = arguments[negative]
            return invalid(tool, negative, value, f"{negative} must not be negative, but is {value}")
        limit = _integer_or(limits(arguments), paging.size)
        limit = limit if paging.most is None else min(limit, paging.most)
        offset = _integer_or(offsets(arguments), 0)
        offset += max(0, _integer_or(pages(arguments), paging.first_page) - paging.first_page) * limit
        cursor = cursors(arguments)
        if isinstance(cursor, str) and cursor:
            start = _read_cursor(cursor, _query_digest(arguments, names))
            if start is None and is_declared:
                return invalid(tool, paging.cursor, cursor, f"Invalid {paging.cursor}: {cursor!r}")
            offset += start or 0
        chosen = rows[offset : offset + limit]
        after = offset + len(chosen)
        has_cursor = paging.cursor and chosen and after < len(rows)
        cursor = _write_cursor(after, _query_digest(arguments, names)) if has_cursor else None
        return Page(chosen, len(rows), offset, limit, cursor)

    return paged


def _integer_or(value: Json, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _read_cursor(cursor: str, digest: str) -> int | None:
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    offset, _, asked = text.partition(".")
    return int(offset) if offset.isdigit() and len(offset) <= _LONGEST_OFFSET and asked == digest else None


def _write_cursor(offset: int, digest: str) -> str:
    """Return a cursor: an offset, bound to the query with this digest."""
    return base64.urlsafe_b64encode(f"{offset}.{digest}".encode()).decode().rstrip("=")


def _is_negative(value: Json) -> bool:
    return isinstance(value, int | float) and value < 0


def _query_digest(arguments: Mapping[str, Json], paging_names: Collection[str]) -> str:
    """Return a digest of the arguments except those of paging, so that a cursor fits only its own query."""
    kept = {name: value for name, value in arguments.items() if name not in paging_names}
    return sha256(canonical(kept).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def selector(tool: Tool, plan: Plan, entity: Entity, *, any_field: bool = False) -> Select:
    """Compile the selection of rows. It returns a page, or a failure if the query is invalid."""
    matching = matching_rows(tool, plan, entity, any_field=any_field)
    order, paged = Ordering(tool, plan, entity), pager(tool, plan)
    sort, direction = argument(plan.paging.sort or ""), argument(plan.paging.order or "")
    query, parse_terms = query_argument(plan), term_parser(entity)
    due = _deadlines(tool, plan, entity)
    is_settled = _settled_test(entity)

    def select(turn: Turn) -> Page | Observation:
        arguments = turn.call.arguments
        hits = matching(turn.view, arguments)
        for is_asked, name, example, is_past in due:
            if is_asked(arguments) is True:
                open_rows = [row for row in hits if not is_settled(row[1])]
                hits = [row for row in open_rows if _is_past(row[1].get(name), example, turn.now) is is_past]
        words = " ".join(parse_terms(query(arguments)).words)
        return paged(order(hits, sort(arguments), direction(arguments), words), arguments)

    return select


def _deadlines(tool: Tool, plan: Plan, entity: Entity) -> list[tuple[Fetch, str, Json, bool]]:
    """Return what a list compares with now if a value is true: always by its name, or by a flag: `overdue_only`.

    Each is the value, the field with the time, an example of its form, and whether the time is past.
    """
    schema = expanded(tool.input_schema)
    flags = [name for name in properties(schema)
             if main_type(property_of(schema, name)) == "boolean" and name not in plan.filters]  # fmt: skip
    asked: list[tuple[str, Fetch]] = [(tool.name, lambda _arguments: True), *((name, argument(name)) for name in flags)]
    due = [(fetch, find_deadline(name, plan, entity)) for name, fetch in asked]
    return [(fetch, at[0], example_of(entity.fields[at[0]].schema), at[1]) for fetch, at in due if at is not None]


def _is_past(value: Json, example: Json, now: datetime) -> bool | None:
    """Return whether a time is past, None for other values. A day is past when it is over."""
    moment, form = parse_time(value, example), time_format(value)
    is_date = form is not None and form.is_date
    return None if moment is None else moment <= now - timedelta(days=1) if is_date else moment < now


def _settled_test(entity: Entity) -> Callable[[Record], bool]:
    """Return a test whether the state of a record, a flag, or a time such as `paid_at` says that it is finished."""
    states = [name for name in entity.fields if snake(name) in _STATES]
    ends = [name for name in entity.fields if event_of(name) in FINAL]
    return lambda record: any(map(record.get, ends)) or any(snake(str(record.get(name))) in FINAL for name in states)


def parent_check(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Observation | None]:
    """Compile the check that the records that required filters refer to exist, or may exist."""
    entity = domain.entities[plan.entity or ""]
    fields = (
        entity.fields
        if entity.name not in domain.given
        else {name: field for name, field in entity.fields.items() if field.link is None or not field.link_is_guessed}
    )
    equal = {path: rule.field for path, rule in plan.filters.items() if rule.op == "equals"}
    needed = {path: fields.get(name) for path, name in equal.items() if path in required(tool.input_schema)}
    return existence_check(
        tool, {path: field.link or "" for path, field in needed.items() if field is not None}, domain
    )


def existence_check(tool: Tool, named: Mapping[str, str], domain: Domain) -> Callable[[Turn], Observation | None]:
    """Compile the check that the records that arguments name exist, or may exist. `named` has their entities."""
    targets = {path: domain.entities.get(entity) for path, entity in named.items()}
    links = [
        (Link(path, target, path, finder_for(path)), argument(path), acceptance(target, path, domain))
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


# order ----------------------------------------------------------------------------------------------------------------


class Ordering:
    """Orders the rows of a tool as a call asks, else as the tool lists them. Unknown fields are ignored."""

    def __init__(self, tool: Tool, plan: Plan, entity: Entity) -> None:
        times = [(name, time_meaning(name, field.schema)) for name, field in entity.fields.items()]
        self.entity, self.paging = entity, plan.paging
        self.fields = {snake(name): name for name in entity.fields}
        self.created = next((name for name, meaning in times if meaning == "created"), None)
        happened = next((name for name, meaning in times if meaning in {"occurred", "past"}), None)
        self.happened = self.created or happened
        self.named = next((self.fields[name] for name in _NAMES if name in self.fields), None)
        self.is_newest_first = _NEWEST_FIRST.search(tool.description) or not _RECENT.isdisjoint(words(tool.name))

    def __call__(self, rows: Sequence[Row], asked: Json, direction: Json, text: str) -> Sequence[Row]:
        texts = [text for text in as_list(asked) or [asked] if isinstance(text, str)]  # `status,-title` or a list
        parts = [piece.strip() for text in texts for piece in text.split(",") if piece.strip()]
        if not parts:
            # The rows as they are listed if no call asks for an order.
            if self.is_newest_first and self.paging.order is None:
                return rows[::-1] if self.happened is None else self._by(self.happened, rows[::-1], down=True)
            if self.paging.sort is None and _is_down(direction):
                return rows[::-1]
            named = self.named
            if not text or named is None or len(rows) < 2:
                return rows
            return sorted(rows, key=lambda row: _distance(row[1].get(named), text))
        for piece in reversed(parts):
            name, down = _sort_key(piece)
            plain = snake(name)
            field = next((self.fields[at] for at in (plain, f"{plain}_at", f"{plain}_date") if at in self.fields), None)
            if field is None and plain in _NEWEST | _OLDEST:
                field, down = self.created, plain in _NEWEST
                rows = rows[::-1] if field is None and down else rows
            if field is not None:
                rows = self._by(field, rows, down=down or _is_down(direction))
        return rows

    def _by(self, field: str, rows: Sequence[Row], *, down: bool) -> Sequence[Row]:
        schema = self.entity.fields[field].schema
        form = time_format(example_of(schema))
        is_plain = form is None or form.is_sortable
        # Sort stably. Records without the field come last in either direction.
        key = _collated if is_plain else seconds_of(schema)
        there = [row for row in rows if row[1].get(field) is not None]
        lacking = [row for row in rows if row[1].get(field) is None]
        try:
            return [*sorted(there, key=lambda row: key(row[1][field]), reverse=down), *lacking]
        except TypeError:
            return [*sorted(there, key=lambda row: str(row[1][field]), reverse=down), *lacking]


def _distance(name: Json, wanted: str) -> int:
    """Rank a name against the searched text: equal, prefix, substring, all words, none of these."""
    lowered = name.lower() if isinstance(name, str) else ""
    if lowered == wanted:
        return 0
    if lowered.startswith(wanted):
        return 1
    if wanted in lowered:
        return 2
    return 3 if all(word in lowered for word in wanted.split()) else 4


def _sort_key(asked: str) -> tuple[str, bool]:
    """Return the field and whether it descends, of `-name`, `name desc`, `name:desc` or `name_desc`."""
    if asked[:1] in "+-":
        return asked[1:], asked[0] == "-"
    match = _DIRECTION.search(asked)
    field = asked[: match.start()].rstrip(_BETWEEN) if match else ""
    return (field, match[1].lower() == "desc") if match and field else (asked, False)


def _is_down(direction: Json) -> bool:
    return isinstance(direction, str) and direction.lower() in {"desc", "descending", "down", "-1", "newest"}


def _collated(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else canonical(value) if isinstance(value, dict | list) else value
