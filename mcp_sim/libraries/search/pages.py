"""Pages of a given state: described one by one, and made from rows by templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from mcp_sim.libraries.store import LibraryError
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.result_templates import NUMBER_FORM, SLOT, SPELLINGS

_TEXTS = ("title", "date", "description", "text", "html", "type")
_TEMPLATE_KEYS = ("about", "url", "title", "date", "text")
_DESCRIPTION = 160
"""Characters of a text that serve as its description, as search engines show."""


class PageError(LibraryError):
    """A given state whose pages cannot be read, or show what they must withhold."""


@dataclass(slots=True)
class Rows:
    """The rows of a given state by table, and which fields name rows of other tables."""

    tables: Mapping[str, Mapping[str, Record]]
    links: Mapping[tuple[str, str], str]
    """Table and field -> the table that its values name."""
    withheld: Mapping[str, frozenset[str]]
    """Table -> the fields that only pages themselves may show."""
    _linking: dict[tuple[str, str], Mapping[str, list[Record]]] = field(
        default_factory=dict[tuple[str, str], Mapping[str, list[Record]]]
    )

    @classmethod
    def of(cls, state: Json) -> Rows:
        """Read `rows`, `links` and `withhold` of a state. Raises `PageError`."""
        body = as_object(state)
        tables = {name: _by_id(name, rows) for name, rows in as_object(body.get("rows")).items()}
        links = {
            _field_of(path, tables, f"links.{path}"): str(table) for path, table in as_object(body.get("links")).items()
        }
        for (table, name), linked in links.items():
            if linked not in tables:
                raise PageError(f"world.state.links.{table}.{name}: expected a table of rows, got {linked!r}")
        withheld = dict[str, frozenset[str]]()
        for key in as_object(body.get("withhold")):
            if key != "snippet":
                raise PageError(f"world.state.withhold: unknown key {key!r}; expected 'snippet'")
        for path in as_list(as_object(body.get("withhold")).get("snippet")):
            table, name = _field_of(str(path), tables, "withhold.snippet")
            withheld[table] = withheld.get(table, frozenset()) | {name}
        return cls(tables, links, withheld)

    def linking(self, table: str, linked: str) -> Mapping[str, list[Record]]:
        """Return the rows of a table by the row of another one to which they link, in whichever field."""
        if (table, linked) not in self._linking:
            fields = [name for (owner, name), target in self.links.items() if (owner, target) == (table, linked)]
            by_id = dict[str, list[Record]]()
            for row in self.tables.get(table, {}).values():
                for key in dict.fromkeys(str(row.get(name)) for name in fields):
                    by_id.setdefault(key, []).append(row)
            self._linking[table, linked] = by_id
        return self._linking[table, linked]

    def check_links(self) -> None:
        """Raise `PageError` for the first value of a link whose row is missing."""
        for (table, name), linked in self.links.items():
            for key, row in self.tables[table].items():
                if row.get(name) is not None and str(row[name]) not in self.tables[linked]:
                    raise PageError(f"world.state.rows.{table}: {key}.{name}: no row of {linked} has id {row[name]!r}")

    def check_slots(self, text: str, table: str, place: str) -> None:
        """Raise `PageError` for the first slot of a template that leads to no field of any row."""
        for match in SLOT.finditer(text):
            reached, path = table, match[1].split(".")
            for name in path[:-1]:
                reached = self._next(reached, name) or _no(match[0], f"{name!r} is not a link of {reached}", place)
            if not any(path[-1] in row for row in self.tables[reached].values()):
                _no(match[0], f"no row of {reached} has a field {path[-1]!r}", place)

    def _next(self, table: str, name: str) -> str | None:
        """Return the table to which a step of a slot leads: a link of the table, or a table that links to it."""
        links_here = any(owner == name and target == table for (owner, _), target in self.links.items())
        return self.links.get((table, name)) or (name if links_here else None)

    def secrets(self, table: str, row: Record) -> list[Json]:
        """Return the values of a row that only pages themselves may show."""
        return [row.get(name) for name in self.withheld.get(table, ())]


def _no(slot: str, why: str, place: str) -> NoReturn:
    raise PageError(f"{place}: {slot}: {why}")


def _by_id(table: str, rows: Json) -> dict[str, Record]:
    listed = [as_object(row) for row in as_list(rows)]
    if not listed or not all("id" in row for row in listed):
        raise PageError(f"world.state.rows.{table}: expected a list of objects with an `id`")
    return {str(row["id"]): row for row in listed}


def _field_of(path: str, tables: Mapping[str, Mapping[str, Record]], place: str) -> tuple[str, str]:
    table, _, name = path.partition(".")
    if table not in tables or not name:
        raise PageError(f"world.state.{place}: expected TABLE.FIELD of `rows`, got {path!r}")
    if not any(name in row for row in tables[table].values()):
        raise PageError(f"world.state.{place}: no row of {table} has a field {name!r}")
    return table, name


@dataclass(slots=True)
class _Scope:
    """A row and what its templates have read of other rows."""

    rows: Rows
    table: str
    row: Record
    read: dict[tuple[str, str], Record] = field(default_factory=dict[tuple[str, str], Record])

    def render(self, template: str) -> str:
        """Return a text with the values of its slots; empty if a value is missing."""
        missing = False

        def value(match: re.Match[str]) -> str:
            nonlocal missing
            texts = [_spell(item, match[2] or "") for item in self._values(match[1].split("."))]
            texts = [text for text in texts if text]
            missing = missing or not texts
            return ", ".join(texts)

        text = SLOT.sub(value, template)
        return "" if missing else text

    def secrets(self) -> list[Json]:
        """Return what must be withheld of this row and of those that the templates have read."""
        return [value for (table, _), row in self.read.items() for value in self.rows.secrets(table, row)]

    def _values(self, path: list[str]) -> list[Json]:
        """Return the values at a path: fields of the row, of rows that it names, or of rows that name it."""
        places = [(self.table, self.row)]
        self.read.setdefault((self.table, str(self.row["id"])), self.row)
        for name in path[:-1]:
            places = [place for table, row in places for place in self._linked(table, row, name)]
            self.read.update({(table, str(row["id"])): row for table, row in places})
        return [row.get(path[-1]) for _, row in places]

    def _linked(self, table: str, row: Record, name: str) -> Iterator[tuple[str, Record]]:
        target = self.rows.links.get((table, name))
        if target is not None:
            linked = self.rows.tables[target].get(str(row.get(name)))
            if linked is not None:
                yield target, linked
            return
        for other in self.rows.linking(name, table).get(str(row["id"]), ()):
            yield name, other


def _spell(value: Json, spelling: str) -> str:
    """Return a value as a slot writes it: `{population:,}`, `{name:slug}`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format(value, spelling) if NUMBER_FORM.fullmatch(spelling) else str(value)
    return SPELLINGS.get(spelling, str)(value) if isinstance(value, str) else ""


def read_given_pages(state: Json) -> list[Record]:
    """Return the pages of a state: those under `pages`, and one for each row that a template is about.

    `texts` has texts by address, which replace those of templates.

    Raises `PageError` with the place in the state.
    """
    rows = Rows.of(state)
    rows.check_links()
    texts = as_object(as_object(state).get("texts"))
    described = [*_described(as_object(state).get("pages"))]
    templated = [
        page
        for at, template in enumerate(as_list(as_object(state).get("templates")))
        for page in _from_template(as_object(template), rows, texts, f"world.state.templates[{at}]")
    ]
    addresses = {page["url"] for page in templated}
    for url in texts:
        if url not in addresses:
            raise PageError(f"world.state.texts: no template makes a page {url}{did_you_mean(url, addresses)}")
    pages = {page["url"]: page for page in described}
    for page in templated:
        if page["url"] in pages:
            raise PageError(f"world.state.templates: two pages have the address {page['url']}")
        pages[page["url"]] = page
    return [*pages.values()]


def page(url: str, **fields: Json) -> Record:
    """Return a page with every field that pages have. `preview`: what a search may show of its text; None: all."""
    given = {name: value for name, value in fields.items() if value is not None}
    texts = {name: str(given[name]) for name in _TEXTS if name in given}
    text = texts.get("text", "")
    first = next((line for line in text.splitlines() if line.strip()), url)
    blank = {"date": "", "html": "", "type": "text/html; charset=utf-8", "status": 200, "computed": False}
    shown = {"title": first.lstrip("# "), "description": text[:_DESCRIPTION], "preview": None}
    return {"url": url, "text": text, **blank, **shown, **given, **texts}


def _described(pages: Json) -> Iterator[Record]:
    """Yield the pages of a mapping from addresses to texts or fields, or of a list of objects with `url`."""
    listed = [as_object(item) for item in as_list(pages)]
    entries: Iterable[tuple[str, Json]] = (
        ((str(item.get("url", "")), item) for item in listed) if listed else as_object(pages).items()
    )
    for url, value in entries:
        fields = {name: item for name, item in as_object(value).items() if name != "url"}
        status = str(fields.get("status", 200))
        if not url:
            raise PageError("world.state.pages: expected a `url` for each page")
        if not re.fullmatch(r"\d{3}", status):
            raise PageError(f"world.state.pages: expected a number as the status of {url}, got {status!r}")
        yield page(url, **{**(fields if isinstance(value, dict) else {"text": value}), "status": int(status)})


def _checked_table(template: Record, rows: Rows, place: str) -> str:
    """Return the table that a template is about. Raises `PageError` for what is wrong with the template."""
    for name in template:
        if name not in _TEMPLATE_KEYS:
            raise PageError(f"{place}: unknown key {name!r}{did_you_mean(name, _TEMPLATE_KEYS)}")
    table = str(template.get("about"))
    if table not in rows.tables:
        raise PageError(f"{place}.about: expected a table of rows, got {table!r}")
    if not template.get("url") or not template.get("text"):
        raise PageError(f"{place}: expected `url` and `text`")
    for name in ("url", "title", "date", "text"):
        for line in as_list(template.get(name)) or [template.get(name, "")]:
            rows.check_slots(str(line), table, f"{place}.{name}")
    return table


def _from_template(template: Record, rows: Rows, texts: Record, place: str) -> Iterator[Record]:
    table = _checked_table(template, rows, place)
    for key, row in rows.tables[table].items():
        scope = _Scope(rows, table, row)
        text = template["text"]
        sentences = [scope.render(str(line)) for line in (as_list(text) or [text])]
        heads = {name: scope.render(str(template.get(name, ""))) for name in ("url", "title", "date")}
        if not heads["url"]:
            continue  # the row lacks what its address is made from: it has no such page
        secrets = scope.secrets()
        for name, head in heads.items():
            if leaked := shown_values(head, secrets):
                raise PageError(f"{place}.{name}: shows {leaked[0]!r} of {table} {key}, which `withhold` forbids")
        given = texts.get(heads["url"])
        whole = [sentence for sentence in sentences if sentence] if given is None else [str(given)]
        shown = [clause for sentence in whole for clause in sentences_of(sentence) if not shown_values(clause, secrets)]
        body = "\n\n".join((f"# {heads['title']}", *whole)) if heads["title"] else "\n\n".join(whole)
        preview = " ".join(shown)
        yield page(**heads, text=body, preview=preview, description=preview[:_DESCRIPTION])


# withheld facts -------------------------------------------------------------------------------------------------------


_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences_of(text: str) -> list[str]:
    """Split a text at the ends of sentences and lines."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def numbers_in(text: str) -> list[float]:
    """Return the numbers that a text shows, in any notation."""
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def shows(text: str, value: Json) -> bool:
    """Whether a text shows a value: a number in any notation (1871, 1,871), or the same words in this order."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) in numbers_in(text)
    words = _plain(str(value))
    return bool(words.strip()) and words in _plain(text)


def shown_values(text: str, values: Iterable[Json]) -> list[Json]:
    """Return those of the values that a text shows."""
    return [value for value in values if shows(text, value)]


def _plain(text: str) -> str:
    return f" {' '.join(word.casefold() for word in _WORD.findall(text))} "
