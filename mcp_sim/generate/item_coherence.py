"""Adjust line items to their total, and names of files to their path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from posixpath import basename, dirname, splitext
from typing import Any, TypeVar

from mcp_sim.generate.ranges import without_currency
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import snake

T = TypeVar("T")
_PATHS = ("path", "file_path", "filepath", "full_path")
_PARTS_OF_PATH: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("folder", "directory", "dir", "folder_path", "parent_path", "parent_folder"), dirname),
    **dict.fromkeys(("filename", "file_name", "basename"), basename),
    **dict.fromkeys(("extension", "file_extension"), lambda path: splitext(path)[1].removeprefix(".")),
}


def path_adjustments(fields: Mapping[str, Field]) -> list[tuple[str, Callable[[Record], None]]]:
    """Derive folder, file name and extension from a record's path. `fields` are keyed by name in snake case."""
    path = next((fields[name] for name in _PATHS if name in fields), None)
    if path is None:
        return []
    texts = [name for name in _PARTS_OF_PATH if name in fields and main_type(fields[name].schema) == "string"]
    return [(fields[name].name, _path_part(path.name, fields[name], _PARTS_OF_PATH[name])) for name in texts]


def _path_part(path: str, field: Field, write: Callable[[str], str]) -> Callable[[Record], None]:
    allows = validity_test(field.schema)

    def adjust(record: Record) -> None:
        whole = record.get(path)
        value = write(whole) if isinstance(whole, str) and "/" in whole else ""
        if value and record.get(field.name) is not None and allows(value):
            record[field.name] = value

    return adjust


def has_price(schema: Record) -> bool:
    """Return whether a schema describes line items with prices."""
    return is_rows(schema) and any(
        without_currency(snake(name)) in word_list("amounts", "line_prices") for name in properties(items(schema))
    )


def line_adjustments(fields: Mapping[str, Field]) -> Iterator[tuple[str, Callable[[Record], None]]]:
    """Compute the amount of each line item, and the total of all: price times quantity."""
    lines = next((field for field in fields.values() if has_price(field.schema)), None)
    if lines is None:
        return
    names = {without_currency(snake(name)): name for name in properties(items(lines.schema))}
    price = _first("line_prices", names) or ""
    count = _first("counts", names)
    amount = _first("line_amounts", {name: own for name, own in names.items() if own != price})
    if amount is not None and count is not None:
        yield lines.name, _line_amounts(lines.name, price, count, amount)
    total = _first("sums", fields)
    if total is not None and main_type(total.schema) in {"number", "integer"}:
        yield total.name, _sum_of_lines(total, lines.name, price, count)


def _first(names: str, known: Mapping[str, T]) -> T | None:
    """Return the first of the known entries that a list of `amounts.json` names."""
    return next((known[name] for name in word_list("amounts", names) if name in known), None)


def _line_amounts(lines: str, price: str, count: str, amount: str) -> Callable[[Record], None]:
    def adjust(record: Record) -> None:
        for line in as_list(record.get(lines)):
            number = _line_amount(as_object(line), price, count)
            if number is not None and isinstance(line, dict) and amount in line:
                line[amount] = _rounded(number, whole=isinstance(line[amount], int))

    return adjust


def _sum_of_lines(total: Field, lines: str, price: str, count: str | None) -> Callable[[Record], None]:
    whole = main_type(total.schema) == "integer"

    def adjust(record: Record) -> None:
        amounts = [_line_amount(as_object(line), price, count) for line in as_list(record.get(lines))]
        known = [number for number in amounts if number is not None]
        if len(known) == len(amounts):
            record[total.name] = _rounded(sum(known), whole=whole)

    return adjust


def _line_amount(line: Record, price: str, count: str | None) -> float | None:
    each: Json = line.get(price)
    times: Any = line.get(count, 1) if count else 1
    return each * times if isinstance(each, int | float) and isinstance(times, int | float) else None


def _rounded(value: float, *, whole: bool) -> Json:
    return round(value) if whole else round(value, 2)
