"""CEL expressions on a world: compilation, the names that they may use, and the values that they see.

`common-expression-language` is imported when the first expression is compiled, since importing it takes longer than a
start without it.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from mcp_sim.types import Json, Record, View
from mcp_sim.types.conditions import ABSENT, matcher
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Unevaluable, did_you_mean
from mcp_sim.types.frozen import frozen

if TYPE_CHECKING:
    from cel import Program

Bind: TypeAlias = Callable[[Json], Json]
Function: TypeAlias = Callable[..., Any]

TYPES: Final = frozenset(
    {"bool", "bytes", "double", "duration", "int", "list", "map", "null_type", "optional", "string", "timestamp"}
    | {"type", "uint"}
)
"""Names that CEL itself has."""

FUNCTIONS: Final = frozenset(
    {"bytes", "contains", "double", "duration", "dyn", "endsWith", "int", "matches", "size", "startsWith", "string"}
    | {"timestamp", "type", "uint", "hasValue", "of", "none", "ofNonZeroValue", "or", "orValue", "value"}
    | {"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds"}
    | {"getMinutes", "getMonth", "getSeconds"}
)
"""Functions and methods of the library. Macros (`has`, `all`, `exists`, `map`, ...) do not appear as functions."""

OURS: Final = frozenset({"find", "max", "min", "sum"})
"""Functions that every expression has besides; `functions` makes them."""

LONGEST = 4_000
"""Characters of an expression."""

MOST_STEPS = 250_000
"""How often the innermost macro of an expression may be evaluated, and how many records `find` may look at. Each takes
a microsecond, in which nothing else happens: the other worlds of a server wait."""

MOST_FOUND = 5_000
"""How many records `find` may return before it is called again: each takes the library some 80 microseconds."""

MOST_SAID = 300  # a value may be a whole table, and the message is one line of a report

_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


@frozen
class Expression:
    """A compiled CEL expression."""

    text: str
    uses: frozenset[str]
    """The names that it reads from outside."""
    program: Program
    nesting: int = 0
    """The power of the number of values with which its cost grows: how many macros are inside each other, where a name
    within the innermost one, `filter` and `map` count as further ones."""
    growth: int = 1
    """By how much a value may grow in macros that repeat what they bind, as `[d].map(x, x + x)` does."""

    def value(self, variables: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
        """Evaluate the expression. Raises `Unevaluable`."""
        from cel import Context  # noqa: PLC0415 (170 ms, expressions only)

        used = {name: value for name, value in variables.items() if name in self.uses}
        self._check_cost(used)
        try:
            return self.program.execute(Context(used, dict(functions)))
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise Unevaluable(self.text, _reason(error)) from error

    def _check_cost(self, variables: Mapping[str, Any]) -> None:
        """Raise `Unevaluable` if evaluation may take too long: the library cannot be stopped."""
        if self.nesting < 2 and self.growth < 2:
            return
        most = int(MOST_STEPS ** (1 / max(self.nesting, 1))) // self.growth
        size = self.text.count(",") + sum(1 for _ in islice(_items_in(variables), most + 1))
        if size > most:
            raise Unevaluable(self.text, f"it may take too long: it combines more than {most} values; use find()")

    def holds(self, variables: Mapping[str, Any], functions: Mapping[str, Function]) -> bool:
        """Whether it is true. Raises `Unevaluable` if it is neither true nor false."""
        value = self.value(variables, functions)
        if not isinstance(value, bool):
            raise Unevaluable(self.text, f"it gives {str(value)[:MOST_SAID]}, which is neither true nor false")
        return value


def expression(text: str, known: Collection[str]) -> Expression:
    """Compile an expression that may read the `known` names.

    Raises `ValueError` for other names, and for bad syntax.
    """
    from cel import compile as compile_cel  # noqa: PLC0415 (170 ms, expressions only)

    if len(text) > LONGEST:  # the library's stack overflows at some ten thousand
        raise ValueError(f"is longer than {LONGEST} characters")
    logging.getLogger("cel").setLevel(logging.CRITICAL)  # what fails inside is raised as well
    try:
        program = compile_cel(text)
    except ValueError as error:
        raise ValueError(describe_syntax_error(text, str(error))) from None
    seen = program.references()
    free = set(seen["variables"]) - _only_bound(text)
    for name in sorted(free - TYPES - set(known)):
        raise ValueError(f"unknown name {name!r}{did_you_mean(name, known)}")
    for name in sorted(set(seen["functions"]) - FUNCTIONS - OURS):
        if name.isidentifier() and not name.startswith("_"):
            raise ValueError(f"unknown function {name!r}{did_you_mean(name, FUNCTIONS | OURS)}")
    return Expression(text, frozenset(free), program, *_cost(text, free))


def fields_read(text: str, name: str) -> frozenset[str]:
    """Return the fields that an expression reads of a variable with a dot: `deal` of `count.deal`."""
    matches = re.finditer(rf"(?<![\w.]){re.escape(name)}\.(\w+)", _STRING.sub("''", text))
    return frozenset(match[1] for match in matches)


def table_names(domain: Domain) -> frozenset[str]:
    """Return the names under which an expression reads whole tables."""
    return frozenset(domain.entities) | {"tables"}


def tables(view: View, domain: Domain, uses: Collection[str]) -> dict[str, Any]:
    """Return the tables that an expression uses: lists of records in the order of creation, by entity."""
    names = domain.entities if "tables" in uses else [name for name in domain.entities if name in uses]
    bound = {name: list(_records(view, domain, name)) for name in names}
    return {**bound, "tables": bound}


def functions(view: View, domain: Domain) -> dict[str, Function]:
    """Return `find(entity, {field: matcher})`, `sum`, `min` and `max` on a version of the world."""

    scanned, shown = 0, 0

    def find(entity: str, where: Mapping[str, Any]) -> list[Record]:
        nonlocal scanned, shown
        if entity not in domain.entities:
            raise ValueError(f"find: unknown entity {entity!r}{did_you_mean(entity, domain.entities)}")
        # Within a macro it is called for each item.
        scanned += view.count(entity)
        if scanned > view.count(entity) and (scanned > MOST_STEPS or shown > MOST_FOUND):
            raise ValueError("find: looks at too many records in all; call it once, outside of macros")
        tests = [(field, matcher(value)) for field, value in where.items()]
        rows = _records(view, domain, entity)
        fitting = [record for record in rows if all(test(record.get(field, ABSENT)) for field, test in tests)]
        shown += len(fitting)
        return fitting

    return {
        "find": find,
        "sum": lambda *values: sum(_numbers("sum", values)),
        "min": lambda *values: min(_orderable("min", values)),
        "max": lambda *values: max(_orderable("max", values)),
    }


def _records(view: View, domain: Domain, entity: str) -> Iterator[Record]:
    bind = record_binder(domain, entity)
    return (bind(record) for _, record in view.rows(entity))


def record_binder(domain: Domain, entity: str) -> Callable[[Record], Record]:
    """Return how an expression sees records of an entity: missing declared fields are null, numbers are doubles."""
    known = domain.entities.get(entity) or Entity(entity)
    return object_binder({name: field.schema for name, field in known.fields.items()})


def object_binder(schemas: Mapping[str, Json]) -> Callable[[Record], Record]:
    """Return how an expression sees objects with these declared fields, as `record_binder` does for records."""
    blank = dict.fromkeys(schemas)
    doubled = [(name, double) for name, schema in schemas.items() if (double := _number_binder(schema))]

    def bind(record: Record) -> Record:
        full = {**blank, **record}
        for name, double in doubled:
            full[name] = double(full[name])
        return full

    return bind


def _number_binder(schema: Json) -> Bind | None:
    """Return what turns integers into doubles wherever the schema says `number`; None if it never does."""
    if not isinstance(schema, Mapping):
        return None
    known = cast("Mapping[str, Any]", schema)
    kinds = known.get("type")
    if kinds == "number" or (isinstance(kinds, list) and "number" in kinds):
        return _double
    branches = [*(known.get("anyOf") or ()), *(known.get("oneOf") or ())]
    if (bind := next(filter(None, map(_number_binder, branches)), None)) is not None:
        return bind
    if (bind_item := _number_binder(known.get("items"))) is not None:
        return lambda value: (
            [bind_item(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value
        )
    properties = cast("Mapping[str, Any]", known.get("properties") or {})
    inner = {name: bind for name, subschema in properties.items() if (bind := _number_binder(subschema))}
    return (lambda value: _bind_object(value, inner)) if inner else None


def _bind_object(value: Json, inner: Mapping[str, Bind]) -> Json:
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {name: inner[name](field) if name in inner else field for name, field in fields.items()}


def _double(value: Json) -> Json:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# functions ------------------------------------------------------------------------------------------------------------


def _numbers(name: str, values: tuple[Any, ...]) -> list[Any]:
    items = _items(values)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError(f"{name}: {'null' if item is None else repr(item)} is not a number")
    return items


def _orderable(name: str, values: tuple[Any, ...]) -> list[Any]:
    items = _items(values)
    if not items:
        raise ValueError(f"{name}: the list is empty")
    return items if all(isinstance(item, str) for item in items) else _numbers(name, values)


def _items(values: tuple[Any, ...]) -> list[Any]:
    """Return the items of the arguments: those of a single list, or the arguments."""
    only = values[0] if len(values) == 1 else None
    return cast("list[Any]", only) if isinstance(only, list) else list(values)


def _reason(error: Exception) -> str:
    """Return the library's message, shortened: its general advice is cut off."""
    if isinstance(error, KeyError):
        return f"no such field: {error}"
    text = str(error).split(". C", 1)[0].removesuffix(".")
    return re.sub(r"^Function '\w+' error: Python function call failed: \w+: ", "", text)[:MOST_SAID]


# names ----------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""//[^\n]* | [rRbB]{0,2}(?: \"{3}.*?\"{3} | '{3}.*?'{3} | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )"""
    r""" | (?P<macro> \. \s* (?:all|exists|exists_one|existsOne|filter|map) \s* \( \s* (?P<bound>[A-Za-z_]\w*) \s* ,)"""
    r""" | (?P<member> \. \s* [A-Za-z_]\w*) | (?P<name> [A-Za-z_]\w*) | (?P<open> [(\[{]) | (?P<close> [)\]}])"""
    r""" | (?P<comma> ,) | (?P<operator> && | \|\| | [=!<>]= | [<>?])""",
    re.VERBOSE | re.DOTALL,
)


def _items_in(whole: Any) -> Iterator[None]:
    """Yield once for each item of each list in a value, however deep."""
    waiting = [whole]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(cast("dict[str, Any]", value).values())
        elif isinstance(value, list):
            yield from repeat(None, len(cast("list[Any]", value)))
            waiting.extend(cast("list[Any]", value))


class _Scope:
    """Brackets in an expression, and how often what is inside may repeat the value of a name."""

    def __init__(self, bound: str | None = None, is_map: bool = False) -> None:
        self.bound, self.is_map = bound, is_map
        self._items = Counter[str]()
        self._largest = Counter[str]()
        self._operand = Counter[str]()

    def add(self, uses: Mapping[str, int]) -> None:
        self._operand.update(uses)

    def end_operand(self) -> None:
        """Begin another operand: `x == x` and `a ? x : x` are at most as large as one x."""
        self._largest |= self._operand
        self._operand = Counter[str]()

    def end_item(self) -> None:
        """Begin another item: `[x, x]` is as large as two x."""
        self.end_operand()
        self._items += self._largest
        self._largest = Counter[str]()

    def uses(self) -> Counter[str]:
        self.end_item()
        return self._items


def _cost(text: str, free: Collection[str]) -> tuple[int, int]:
    """Return the nesting and the growth of an expression (see `Expression`)."""
    bare = _TOKEN.sub(lambda token: " " if token.lastgroup is None else token[0], text)  # without comments and texts
    scopes, nesting, growth = [_Scope()], 0, 1
    for token in _TOKEN.finditer(bare):
        macros = sum(scope.bound is not None for scope in scopes)
        # What a `map` makes of each item may be as large as all items, and is copied for each further one, as by
        # `filter`.
        depth = macros + any(scope.is_map for scope in scopes)
        if token["macro"] or token["open"]:
            is_map = bool(token["macro"]) and "map" in token[0]
            is_copied = is_map or (bool(token["macro"]) and "filter" in token[0])
            nesting = max(nesting, depth + bool(token["macro"]) + is_copied)
            scopes.append(_Scope(token["bound"], is_map))
        elif token["close"] and len(scopes) > 1:
            scope = scopes.pop()
            uses = scope.uses()
            growth *= max(uses.pop(scope.bound, 1), 1) if scope.bound is not None else 1
            scopes[-1].add(uses)
        elif token["comma"]:
            scopes[-1].end_item()
        elif token["operator"]:
            scopes[-1].end_operand()
        elif token["name"]:
            scopes[-1].add({token["name"]: 1})
            nesting = max(nesting, depth + 1) if token["name"] in free and macros else nesting
    return nesting, min(growth, MOST_STEPS)


def _only_bound(text: str) -> set[str]:
    """Return the names that occur only where a macro binds them, as the `d` of `deal.all(d, d.amount > 0.0)`.

    The library lists them among the variables.
    """
    scopes = list[str | None]()
    bound, free = set[str](), set[str]()
    for token in _TOKEN.finditer(text):
        if token["macro"]:
            scopes.append(token["bound"])
            bound.add(token["bound"])
        elif token["open"]:
            scopes.append(None)
        elif token["close"] and scopes:
            scopes.pop()
        elif token["name"] and token["name"] not in scopes:
            free.add(token["name"])
    return bound - free


_PLACE = re.compile(r"<input>:(\d+):(\d+):")
_MOST_SHOWN = 20
_MEANT: Mapping[str, str] = {"=": "==", "and": "&&", "or": "||", "not": "!", "===": "==", "<>": "!="}
"""Operators of other languages -> those of CEL."""


def describe_syntax_error(text: str, parser_message: str) -> str:
    """Return a message about the first error in a text, located by the message of its parser."""
    place = _PLACE.search(parser_message)
    lines = text.splitlines() or [""]
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    rest = lines[line - 1][column - 1 :] if line <= len(lines) else ""
    where = f"at character {column}{f' of line {line}' if len(lines) > 1 else ''}"
    if not text.strip():
        return "is not a CEL expression: it is empty"
    if not rest.strip() and line >= len(lines):
        return "is not a CEL expression: it is incomplete"
    if rest[:1] in {"'", '"'}:
        return f"is not a CEL expression: the string that begins {where} is not closed"
    match = re.match(r"\w+|[^\w\s]+", rest.strip())
    word = match[0][:_MOST_SHOWN] if match else rest[:_MOST_SHOWN]
    before = lines[line - 1][: column - 1].split()[-1:]  # `not x` is refused at the `x`
    known = [other for other in (word, *before) if other in _MEANT]
    meant = f"; CEL writes `{_MEANT[known[0]]}` for `{known[0]}`" if known else ""
    return f"is not a CEL expression: {word!r} is not understood {where}{meant}"
