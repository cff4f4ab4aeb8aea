"""CEL expressions on a world: compilation, the names that they may use, and the values that they see.

`common-expression-language` is imported when the first expression is compiled, since importing it takes longer than a
start without it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from mcp_sim.types import Json, Record, View
from mcp_sim.types.conditions import ABSENT, matcher
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Unevaluable, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.world.cel_diagnostics import describe_syntax_error

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

MOST_SAID = 300  # a value may be a whole table, and the message is one line of a report

_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


@frozen
class Expression:
    """A compiled CEL expression."""

    text: str
    uses: frozenset[str]
    """The names that it reads from outside."""
    program: Program

    def value(self, variables: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
        """Evaluate the expression. Raises `Unevaluable`."""
        from cel import Context  # noqa: PLC0415 (170 ms, expressions only)

        used = {name: value for name, value in variables.items() if name in self.uses}
        try:
            return self.program.execute(Context(used, dict(functions)))
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise Unevaluable(self.text, _reason(error)) from error

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
    return Expression(text, frozenset(free), program)


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

    def find(entity: str, where: Mapping[str, Any]) -> list[Record]:
        if entity not in domain.entities:
            raise ValueError(f"find: unknown entity {entity!r}{did_you_mean(entity, domain.entities)}")
        tests = [(field, matcher(value)) for field, value in where.items()]
        rows = _records(view, domain, entity)
        return [record for record in rows if all(test(record.get(field, ABSENT)) for field, test in tests)]

    return {"find": find, "sum": _sum, "min": _least, "max": _most}


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
        return lambda value: _bind_list(value, bind_item)
    properties = cast("Mapping[str, Any]", known.get("properties") or {})
    inner = {name: bind for name, subschema in properties.items() if (bind := _number_binder(subschema))}
    return (lambda value: _bind_object(value, inner)) if inner else None


def _bind_list(value: Json, bind: Bind) -> Json:
    return [bind(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _bind_object(value: Json, inner: Mapping[str, Bind]) -> Json:
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {name: inner[name](field) if name in inner else field for name, field in fields.items()}


def _double(value: Json) -> Json:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# functions ------------------------------------------------------------------------------------------------------------


def _sum(*values: Any) -> Any:
    return sum(_numbers("sum", values))


def _least(*values: Any) -> Any:
    return min(_orderable("min", values))


def _most(*values: Any) -> Any:
    return max(_orderable("max", values))


def _numbers(name: str, values: tuple[Any, ...]) -> list[Any]:
    items = _items(values)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError(f"{name}: {'null' if item is None else repr(item)} is not a number")
    return items


def _orderable(name: str, values: tuple[Any, ...]) -> list[Any]:
    items = _items(values)
    if not items:
        raise ValueError(f"{name}: an empty list has none")
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
    r""" | (?P<member> \. \s* [A-Za-z_]\w*) | (?P<name> [A-Za-z_]\w*) | (?P<open> [(\[{]) | (?P<close> [)\]}])""",
    re.VERBOSE | re.DOTALL,
)


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
