"""R6 and the lists of R3: rows, totals and cursors of a list agree with each other and with the records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from support.checker.knowledge import Key, Knowledge
from support.checker.ledger import Answered, Json, Record
from support.checker.narrowing import Question, paging_names, question
from support.checker.specs import NOWHERE, Specs, at, given, shown_rows

Finding = tuple[str, str]


@dataclass
class Course:
    """The pages of one query, read one after the other at one version of the world."""

    version: int
    total: int | None
    rows: dict[int, list[Json]] = field(default_factory=dict[int, list[Json]])
    texts: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    is_last: dict[int, bool] = field(default_factory=dict[int, bool])


@dataclass(frozen=True)
class Page:
    """The position of a page, its rows, and its statements about the whole list; None if it states nothing.

    `limit` is what was asked for, `size` what is full: without limit the usual size, None where nothing is cut.
    """

    offset: int | None
    limit: int | None
    size: int | None
    rows: list[Json]
    total: int | None
    more: bool | None
    cursor: str | None


class Lists:
    """Compares every list of a ledger with the others and with known facts."""

    def __init__(self, specs: Specs, knowledge: Knowledge) -> None:
        self._specs, self._knowledge = specs, knowledge
        self._courses: dict[str, Course] = {}
        self._cursors: dict[tuple[str, str], int] = {}

    def problems(self, plan: Record, call: Answered) -> Iterator[Finding]:
        """Yield the violations of a list, and learn what it proves."""
        rows = shown_rows(plan, call)
        if rows is None or plan["verb"] == "get":
            return
        asked = json.dumps([call.tool, _unpaged(plan, call)], sort_keys=True)
        page = self._page(plan, call, rows, asked)
        yield from _own_problems(page)
        if page.offset is None:
            return
        if page.cursor is not None:
            self._cursors[asked, page.cursor] = page.offset + len(rows)
        course, differs = self._course(asked, page)
        yield from differs
        yield from _page_problems(course, plan["verb"])
        every = _every_row(course)
        if every is not None:
            yield from self._whole_problems(plan, question(plan, call, self._specs), every)

    def _page(self, plan: Record, call: Answered, rows: list[Json], asked: str) -> Page:
        envelope, paging = plan["envelope"], plan["paging"]
        total, more = at(call.value, envelope["total"]), at(call.value, envelope["more"])
        cursor = at(call.value, envelope["cursor"])
        limit = _whole(given(call, paging["limit"])) if paging["limit"] else None
        most = paging["most"]
        limit = limit if limit is None or most is None else min(limit, most)
        return Page(
            self._offset(paging, call, limit, asked),
            limit,
            (paging["size"] if limit is None else limit) if any(paging_names(plan)) else None,
            rows,
            _whole(total),
            more if isinstance(more, bool) else None if cursor is NOWHERE or not paging["cursor"] else bool(cursor),
            cursor if isinstance(cursor, str) and cursor else None,
        )

    def _offset(self, paging: Record, call: Answered, limit: int | None, asked: str) -> int | None:
        """Return the start of a page, None if the ledger does not show it."""
        cursor = given(call, paging["cursor"]) if paging["cursor"] else NOWHERE
        if cursor is not NOWHERE and cursor != "":
            return self._cursors.get((asked, cursor)) if isinstance(cursor, str) else None
        number = _whole(given(call, paging["page"])) if paging["page"] else None
        if number is not None and number > paging["first_page"]:
            return (number - paging["first_page"]) * limit if limit is not None else None
        start = given(call, paging["offset"]) if paging["offset"] else 0
        offset = 0 if start is NOWHERE else _whole(start)
        return None if offset is None or offset < 0 else offset

    def _course(self, asked: str, page: Page) -> tuple[Course, list[Finding]]:
        version = self._knowledge.version
        course, differs = self._courses.get(asked), list[Finding]()
        if course is None or course.version != version:
            course = self._courses[asked] = Course(version, page.total)
        elif course.total != page.total:
            differs = [("R6", f"the total is {page.total}, and was {course.total} though nothing was written since")]
        assert page.offset is not None
        course.rows[page.offset] = page.rows
        course.texts[page.offset] = [json.dumps(row, sort_keys=True) for row in page.rows if isinstance(row, dict)]
        course.is_last[page.offset] = page.more is False or _is_short(page)
        return course, differs

    def _whole_problems(self, plan: Record, wanted: Question, rows: list[Json]) -> Iterator[Finding]:
        """Yield known records that are missing from a list that was read to its end."""
        entity = plan["entity"]
        key = self._specs.key_of(entity)
        keys = {_key(row, key) for row in rows}
        if None in keys:
            return
        for known, fact in self._knowledge.existing(entity):
            may_be_hidden = fact.moved and self._knowledge.own_ids
            if known not in keys and wanted.fits(fact) and not may_be_hidden:
                yield ("R5" if fact.referred else "R3" if fact.made else "R2"), f"{entity} {known!r} is not in the list"
        if wanted.asks_for_all:
            self._knowledge.complete.add(entity)
            for listed in keys:
                self._knowledge.refer(entity, cast("Key", listed))
        elif entity in self._knowledge.complete:
            yield from self._strangers(entity, wanted, keys)

    def _strangers(self, entity: str, wanted: Question, keys: set[Json]) -> Iterator[Finding]:
        for known in keys:
            fact = self._knowledge.of(entity, known)
            if fact is not None and fact.exists and wanted.fits(fact) is False:
                yield "R6", f"{entity} {known!r} is in a list that does not ask for it"


def _unpaged(plan: Record, call: Answered) -> Record:
    names = {*paging_names(plan)}
    return {name: value for name, value in call.arguments.items() if name not in names and value is not None}


def _own_problems(page: Page) -> Iterator[Finding]:
    """Return the statements of a page about itself."""
    shown = len(page.rows)
    if page.limit is not None and page.limit > 0 and shown > page.limit:
        yield "R6", f"{shown} rows where {page.limit} were asked for"
    if page.total is not None and page.total < shown + (page.offset or 0) and shown:
        yield "R6", f"a total of {page.total}, but {shown} rows from {page.offset or 0} on"
    if page.total is None or page.offset is None:
        return
    if not shown and page.offset < page.total and page.limit != 0:
        yield "R6", f"nothing is shown from {page.offset} on, but the total is {page.total}"
    is_more = page.offset + shown < page.total
    if shown and page.more is not None and is_more != page.more:
        yield "R6", f"{page.offset + shown} of {page.total} are shown, but more is {page.more}"


def _page_problems(course: Course, verb: str) -> Iterator[Finding]:
    """Check that no row is on two pages, no page is too short, and the pages add up to the total."""
    seen = set[str]()
    position = 0
    while position in course.rows:
        rows = course.rows[position]
        for text in course.texts[position]:
            if text in seen and verb == "list":
                yield "R6", f"a row stands twice in the pages: {text[:200]}"
            seen.add(text)
        is_last = course.is_last[position]
        position += len(rows)
        if is_last and course.total is not None and position != course.total:
            yield "R6", f"the pages hold {position} rows, but the total is {course.total}"
        if is_last or not rows:
            return


def _every_row(course: Course) -> list[Json] | None:
    """Return the rows of all pages, if all were read."""
    listed = list[Json]()
    while len(listed) in course.rows:
        rows, is_last = course.rows[len(listed)], course.is_last[len(listed)]
        listed += rows
        if is_last or len(listed) == course.total:
            return listed
        if not rows:
            return None
    return None


def _is_short(page: Page) -> bool:
    """Whether a page is the last: it is not full, or no limit was given."""
    if page.total is not None and page.offset is not None:
        return page.offset + len(page.rows) >= page.total
    return page.size is None or len(page.rows) < page.size


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _key(row: Json, name: str) -> Key | None:
    value: Json = cast("Record", row).get(name) if isinstance(row, dict) else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
