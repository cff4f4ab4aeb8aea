"""Which argument names the record, sets a field, narrows a list, chooses a page or an order?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcp_sim.domain import Filter, Operator, Paging, Verb
from mcp_sim.schemas import items, main_type, properties, required
from mcp_sim.types import Record
from mcp_sim.words import plural, singular, snake, vocabulary

LIMITS = vocabulary(
    "limit page_size per_page max_results max_count maxcount size top first num_results number_of_results result_limit "
    "results_per_page limit_results page_limit max_items max_entries count num n"
)
OFFSETS = vocabulary("offset skip start start_index start_at startat first_result")
PAGES = vocabulary("page page_number page_num page_index page_no")
CURSORS = vocabulary(
    "cursor page_token next_page_token after next_token next_cursor starting_after continuation_token marker "
    "start_cursor"
)
QUERIES = vocabulary(
    "query q search keyword keywords term search_term search_query search_text query_text text_query terms text "
    "search_string filter_text"
)
SORTS = vocabulary("sort sort_by order_by sortby orderby sort_field sort_key sort_column")
ORDERS = vocabulary("order sort_order direction sort_direction sort_dir order_direction ascending descending")
OPTIONS = vocabulary(
    "dry_run force confirm confirmed verbose notify silent expand include exclude fields format output_format debug "
    "response_format request_id idempotency_key api_key timezone_offset include_deleted pretty raw wait timeout "
    "send_notification send_notifications random_string ctx context user_context dummy access_token accesstoken "
    "api_token apikey apitoken auth_token bearer_token token client_secret secret_key"
)
CONTAINERS = vocabulary(
    "fields properties data attributes values updates update changes patch body input payload params set document"
)
_SYNONYMS = (
    ("title", "name", "subject", "summary"), ("body", "content", "text", "message", "comment"),
    ("description", "notes", "note", "details"), ("due_date", "due", "due_at", "deadline"),
    ("start", "start_time", "start_date", "starts_at", "start_at"),
    ("end", "end_time", "end_date", "ends_at", "end_at"),
    ("assignee", "assigned_to", "owner", "assignee_id", "owner_id"), ("status", "state"), ("tags", "labels"),
    ("email", "email_address"),
    ("path", "filename", "file_name", "file_path", "filepath"), ("phone", "phone_number"), ("category", "type", "kind"),
)  # fmt: skip
_SEARCHES = re.compile(r"\b(?:filter|search) (?:text|term|string|keyword)s?\b")
_FILE_NAMES = vocabulary("filename file_name file_path filepath")
_KEPT_IN_FILES = vocabulary("file document presentation workbook notebook spreadsheet deck")
"""What is a file of its own, which its name names."""

_KEY_ENDINGS = vocabulary("id key uuid number code slug name identifier no ref reference handle sku")
BOUNDS: tuple[tuple[str, Operator], ...] = (
    (r"min_(?P<f>.+)|(?P<g>.+)_min|minimum_(?P<h>.+)|(?P<i>.+)_(gte|ge|from|since|at_least|start)", "gte"),
    (r"max_(?P<f>.+)|(?P<g>.+)_max|maximum_(?P<h>.+)|(?P<i>.+)_(lte|le|to|until|at_most|end)", "lte"),
    (r"(?P<f>.+)_(gt|after|greater_than|above|over)|after_(?P<g>.+)", "gt"),
    (r"(?P<f>.+)_(lt|before|less_than|below|under)|before_(?P<g>.+)", "lt"),
    (r"(?P<f>.+)_(contains|like|includes|substring|prefix)", "contains"),
    (r"(?P<f>.+)_in", "in"),
)
TIMES: dict[str, Operator] = {
    "since": "gte", "after": "gt", "from": "gte", "from_date": "gte", "date_from": "gte", "start_date": "gte",
    "time_min": "gte", "start_time": "gte", "start": "gte", "from_time": "gte", "until": "lte", "before": "lt",
    "to": "lte", "to_date": "lte", "date_to": "lte", "end_date": "lte", "time_max": "lte", "end_time": "lte",
    "end": "lte", "to_time": "lte", "oldest": "gte", "newer_than": "gt", "latest": "lte", "older_than": "lt",
}  # fmt: skip
_TIME_FIELDS = (
    "date",
    "start",
    "start_time",
    "start_date",
    "occurred_at",
    "timestamp",
    "time",
    "created_at",
    "created",
)


_TIMELY = re.compile(r"\b(date|time|day|timestamp|iso|month|year|hour|yyyy)", re.IGNORECASE)
_NO_PAGING = Paging()


@dataclass(frozen=True, slots=True)
class Known:
    """The entity as far as it is known when arguments are read: its name, its key field, its fields by snake name."""

    entity: str
    key: str
    fields: Mapping[str, str]
    schemas: Mapping[str, Record]
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Linked entity -> the field that links to it."""
    nested: Mapping[str, str] = field(default_factory=dict[str, str])
    """Snake name -> path, for what stands inside the objects of a record (`city`: `address.city`)."""

    def field_of(self, argument: str) -> str | None:
        """The field that an argument's snake name means, or None."""
        return self.named(argument) or self.synonym(argument)

    def named(self, argument: str) -> str | None:
        """The field that has the argument's name, or nearly so."""
        tries = (argument, argument.removeprefix("new_"), argument.removeprefix("updated_"))
        own = f"{self.entity}_"
        for name in dict.fromkeys((*tries, argument.removeprefix(own), f"is_{argument}", f"{argument}_id")):
            if name in self.fields:
                return self.fields[name]
        stem = argument.removesuffix("_id")
        return self.links.get(stem)

    def synonym(self, argument: str) -> str | None:
        """The field whose name means the same as the argument's."""
        argument = argument.removeprefix(f"{self.entity}_")
        group = next((names for names in _SYNONYMS if argument in names), ())
        found = [self.fields[name] for name in group if name in self.fields]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Roles:
    """What each argument of a tool is for. `unexplained` are those that fit nothing."""

    key: str | None = None
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    sort: str | None = None
    order: str | None = None
    paging: Paging = _NO_PAGING
    holder: str | None = None
    """What names the record in which those of the entity stand."""

    unexplained: tuple[str, ...] = ()


def is_paged(schema: Record) -> bool:
    """Does a tool show pages, so that its result says more than the rows of one?"""
    return not {snake(name) for name in properties(schema)}.isdisjoint(OFFSETS | PAGES | CURSORS)


def key_argument(verb: Verb, entity: str, key: str, schema: Record) -> tuple[str | None, int]:
    """The argument that names one record, and how good the evidence is: 3 certain, 2 good, 1 the only candidate."""
    scored = [
        (_key_score(snake(name), entity, key), name) for name, part in properties(schema).items() if _scalar(part)
    ]
    best = max(scored, key=lambda entry: (entry[0], entry[1] in required(schema)), default=(0, ""))
    if best[0]:
        return best[1], best[0]
    needed = [name for name in properties(schema) if name in required(schema) and _scalar(properties(schema)[name])]
    if verb in {"get", "delete"} and len(needed) == 1 and snake(needed[0]) not in QUERIES | OPTIONS:
        return needed[0], 1
    return None, 0


def reading_roles(verb: Verb, known: Known, schema: Record, key: str | None) -> Roles:
    """The roles of the arguments of a tool that shows many records."""
    arguments = properties(schema)
    by_name = {snake(name): name for name in arguments if name != key}
    paging = _paging(by_name, arguments)
    taken = {paging.limit, paging.offset, paging.page, paging.cursor, key}
    sort = next((by_name[name] for name in by_name if name in SORTS), None)
    order = next((by_name[name] for name in by_name if name in ORDERS and by_name[name] != sort), None)
    query = _query(verb, by_name, arguments, known, required(schema))
    rest = [name for name in arguments if name not in taken | {sort, order, query}]
    spans = {snake(name) for name in rest if is_time(name, arguments[name])}
    filters = {
        name: found
        for name in rest
        if snake(name) not in OPTIONS and (found := _filter(snake(name), arguments[name], known, spans))
    }
    unexplained = tuple(name for name in rest if name not in filters and snake(name) not in OPTIONS)
    return Roles(key, {}, filters, query, sort, order, paging, unexplained=unexplained)


def writing_roles(known: Known, schema: Record, key: str | None, verb: str = "") -> Roles:
    """The roles of the arguments of a tool that writes one record. `verb`: a word that fields may begin with."""
    sets: dict[str, str] = {}
    unexplained: list[str] = []
    leaves = dict(_leaves(schema, known))
    spoken = {known.fields.get(snake(path.rsplit(".", 1)[-1])) for path in leaves}
    for path, part in leaves.items():
        name = snake(path.rsplit(".", 1)[-1])
        if path == key or name in OPTIONS:
            continue
        if path.endswith("*"):
            sets[path] = "*"
            continue
        found = known.named(name) or (_begun(verb, name, known) if verb else None)
        inside = known.nested.get(name) if verb and found is None else None
        if found is None and inside is None and known.synonym(name) not in spoken:
            found = known.synonym(name)
        if found is not None and found not in sets.values() and _may_hold(known.schemas.get(found, {}), part):
            sets[path] = found
        elif inside is not None:
            sets[path] = inside
        elif not _is_secret(part):
            unexplained.append(path)
    return Roles(key, sets, unexplained=tuple(unexplained))


def _may_hold(field: Record, argument: Record) -> bool:
    """Can what a field holds be what is given? What is shown as an object is not set by its name alone."""
    return not properties(field) or main_type(argument) not in {"string", "integer", "number", "boolean"}


def _begun(verb: str, argument: str, known: Known) -> str | None:
    """`cancel_order(reason)` sets `cancel_reason`, `return_order(item_ids)` sets `return_items`."""
    bare = argument.removesuffix("_ids").removesuffix("_id")
    names = (argument, plural(bare), bare)
    return next((known.fields[f"{verb}_{name}"] for name in names if f"{verb}_{name}" in known.fields), None)


def _leaves(schema: Record, known: Known) -> Iterator[tuple[str, Record]]:
    """Arguments by path: those inside `fields: {...}` and the like one by one, `fields.*` where undeclared."""
    for name, part in properties(schema).items():
        wraps = snake(name) in CONTAINERS or snake(name) == known.entity
        if main_type(part) == "object" and wraps and snake(name) not in known.fields:
            inner = properties(part)
            yield from ((f"{name}.{field}", inner[field]) for field in inner)
            if not inner:
                yield f"{name}.*", part
        else:
            yield name, part


def _key_score(argument: str, entity: str, key: str) -> int:
    short = entity.rsplit("_", 1)[-1]
    if argument in {f"{entity}_id", "id"} or argument == snake(key):
        return 3
    if argument in {f"{name}_{ending}" for name in (entity, short) for ending in _KEY_ENDINGS}:
        return 2
    if argument in {entity, short, "uuid", "key", "identifier", "path", "slug"}:
        return 2
    if argument in _FILE_NAMES and short in _KEPT_IN_FILES:
        return 2
    return 2 if _is_shortened(argument, entity) else 0


def noun_of_key(argument: str) -> str:
    """What an argument is an id, a number or a reference of: `booking_reference` of a booking; '' where of nothing."""
    stem, _, ending = snake(argument).rpartition("_")
    return stem if ending in {"id", "number", "no", "ref", "reference"} else ""


def _is_shortened(argument: str, entity: str) -> bool:
    """`pr_id` of a pull request, `repo_slug` of a repository, `server_name` of a server configuration."""
    stem, _, ending = argument.rpartition("_")
    parts = entity.split("_")
    if ending not in _KEY_ENDINGS or not stem:
        return False
    initials = len(parts) > 1 and stem == "".join(part[0] for part in parts)
    begun = len(stem) > 2 and parts[-1].startswith(stem)
    return initials or begun or (len(parts) > 1 and stem == parts[0] and ending in {"name", "slug"})


def _scalar(schema: Record) -> bool:
    return main_type(schema) in {"string", "integer", "number", ""}


def _paging(by_name: Mapping[str, str], arguments: Mapping[str, Record]) -> Paging:
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


def _query(
    verb: Verb, by_name: Mapping[str, str], arguments: Mapping[str, Record], known: Known, needed: frozenset[str]
) -> str | None:
    texts = [name for name in by_name if main_type(arguments[by_name[name]]) in {"string", ""}]
    named = next((by_name[name] for name in texts if name in QUERIES and name not in known.fields), None)
    if named is None:
        named = next((by_name[name] for name in texts if _is_said_to_search(arguments[by_name[name]])), None)
    if named is None and verb == "search":
        alone = [by_name[name] for name in texts if by_name[name] in needed and known.field_of(name) is None]
        return alone[0] if len(alone) == 1 else None
    return named


def _is_said_to_search(schema: Record) -> bool:
    """Does an argument's description call it a text to search by, whatever its name?"""
    return _SEARCHES.search(str(schema.get("description", "")).lower()) is not None


def _filter(argument: str, schema: Record, known: Known, spans: set[str]) -> Filter | None:
    """What an argument narrows. `spans`: the arguments that begin or end a stretch of time, if both are there."""
    many = main_type(schema) == "array"
    if len(spans) == 2 and argument in spans:
        timed = known.fields.get(argument) or _time_field(known)
        return Filter(timed, TIMES[argument]) if timed else None
    found = known.named(argument) or (None if argument in known.nested else known.synonym(argument))
    found = found or known.field_of(singular(argument) if many else plural(argument))
    if found is None and argument in {f"{known.entity}_ids", "ids", plural(known.entity)}:
        found = known.key
    if found is None and argument in known.nested and not many:
        found = known.nested[argument]
    if found is not None:
        return Filter(found, _equality(known.schemas.get(found, {}), many))
    for pattern, op in BOUNDS:
        hit = re.fullmatch(pattern, argument)
        stem = next((part for part in hit.groupdict().values() if part), None) if hit else None
        bounded = _bounded_field(stem, known) if stem else None
        if bounded is not None:
            return Filter(bounded, op)
    if is_time(argument, schema):
        timed = _time_field(known)
        return Filter(timed, TIMES[argument]) if timed else None
    return None


def is_time(argument: str, schema: Record) -> bool:
    """Does an argument begin or end a stretch of time? `from` and `to` may be places, or accounts."""
    if snake(argument) not in {"from", "to"}:
        return snake(argument) in TIMES
    told = str(schema.get("description", "")).lower()
    return str(schema.get("format", "")).startswith(("date", "time")) or bool(_TIMELY.search(told))


def _time_field(known: Known) -> str | None:
    return next((known.fields[name] for name in _TIME_FIELDS if name in known.fields), None)


def _equality(field_schema: Record, many: bool) -> Operator:
    if main_type(field_schema) == "array":
        return "contains"
    return "in" if many else "equals"


def _bounded_field(stem: str, known: Known) -> str | None:
    for name in (stem, f"{stem}_at", f"{stem}_date", f"{stem}_on", f"date_{stem}", f"{stem}_time", f"{stem}d_at"):
        if name in known.fields:
            return known.fields[name]
    return known.field_of(stem)


def _is_secret(schema: Record) -> bool:
    return schema.get("format") == "password" or main_type(items(schema)) == "null"
