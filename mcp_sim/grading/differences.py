"""What is different where a CEL condition does not hold: values beside those that were expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.types import View
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import Difference
from mcp_sim.world.cel import expression, functions, table_names, tables

MOST = 3
"""The most differences of a condition: the first ones explain it."""
_LONGEST = 120
"""The most characters of a value; a table has room for no more."""

_TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<and>&&)|(?P<or>\|\||\?)|(?P<comparison>[=!<>]=|[<>])"""
)
_MACRO = re.compile(r"(?s)(?P<list>.+)\.(?P<macro>exists|all)\(\s*(?P<name>[A-Za-z_]\w*)\s*,(?P<condition>.+)\)")
_MEMBER = re.compile(r".*?(?:\.(?P<name>[A-Za-z_]\w*)|\['(?P<key>[^']+)'\])\s*")


def differences(text: str, view: View, domain: Domain) -> tuple[Difference, ...]:
    """Return what is different where a condition on the world does not hold; nothing where no comparison shows it."""
    world = _World(view, domain)
    listed = [difference for conjunct in _conjuncts(text) for difference in _of_part(conjunct, world)]
    return tuple(listed[:MOST])


def rendered(value: Any) -> str:
    """Render a value as a sentence shows it. Whole numbers, which expressions see as doubles, have no fraction."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        text = canonical(value)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


class _World:
    """Evaluates parts of a condition at the end of a run."""

    def __init__(self, view: View, domain: Domain) -> None:
        self.domain = domain
        self._view, self._functions = view, functions(view, domain)

    def value(self, text: str) -> Any:
        """Return the value of an expression. Raises `Unevaluable` or `ValueError`."""
        compiled = expression(text, table_names(self.domain))
        return compiled.value(tables(self._view, self.domain, compiled.uses), self._functions)


def _of_part(text: str, world: _World) -> Iterator[Difference]:
    """Yield what is different in a part that must hold; nothing if it holds, or cannot be taken apart."""
    try:
        if world.value(text) is not False:
            return
        if macro := _MACRO.fullmatch(text):
            yield from _of_records(macro.groupdict(), world)
        elif comparison := _comparison(text):
            left, operator, right = comparison
            yield Difference(_label(left), rendered(world.value(left)), _expected(operator, world.value(right)))
    except (Unevaluable, ValueError, TypeError, LookupError):
        return


def _of_records(macro: Mapping[str, str], world: _World) -> Iterator[Difference]:
    """Yield what is different in the record nearest to a condition on one, or in those that break one on all.

    Of several, the newest comes first, which the agent is most likely to have written.
    """
    records, name, parts = macro["list"].strip(), macro["name"], list(_conjuncts(macro["condition"]))
    is_about_one = macro["macro"] == "exists"
    for segment in reversed(parts):  # the first one usually says which record is meant
        comparison = _comparison(segment)
        others = [f"({other})" for other in parts if other is not segment] if is_about_one else []
        if comparison is None or (is_about_one and not others):
            continue
        left, operator, right = comparison
        wrong = f"{records}.filter({name}, {' && '.join([*others, f'!({segment})'])})"
        sides = (world.value(f"{wrong}.map({name}, {side})") for side in (name, left, right))
        for record, actual, expected in reversed([*zip(*sides, strict=True)]):
            subject = f"{_label(left)}{_of(records, record, world.domain)}"
            yield Difference(subject, rendered(actual), _expected(operator, expected))
            if is_about_one:
                return


def _of(records: str, record: Any, domain: Domain) -> str:
    entity = domain.entities.get(records)
    return "" if entity is None else f" of {records} {as_object(record).get(entity.key)}"


def _expected(operator: str, value: Any) -> str:
    return rendered(value) if operator == "==" else f"{operator} {rendered(value)}"


def _label(text: str) -> str:
    """Return the name of the field that an expression reads last, by default the expression itself."""
    member = _MEMBER.fullmatch(text)
    return (member["name"] or member["key"]) if member else text.strip()


# syntax ---------------------------------------------------------------------------------------------------------------


def _conjuncts(text: str) -> Iterator[str]:
    """Yield the parts that `&&` joins. A text without `&&`, or with alternatives, is yielded as it is."""
    tokens = list(_outside(text))
    if any(token.lastgroup == "or" for token in tokens):
        yield text.strip()
        return
    start = 0
    for token in tokens:
        if token.lastgroup == "and":
            yield text[start : token.start()].strip()
            start = token.end()
    yield text[start:].strip()


def _comparison(text: str) -> tuple[str, str, str] | None:
    """Return the sides and the operator of a comparison, None if the text is something else."""
    tokens: Sequence[re.Match[str]] = list(_outside(text))
    if len(tokens) != 1 or tokens[0].lastgroup != "comparison":
        return None
    (token,) = tokens
    return text[: token.start()].strip(), token[0], text[token.end() :].strip()


def _outside(text: str) -> Iterator[re.Match[str]]:
    """Yield the operators that are in no brackets."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif depth == 0 and token.lastgroup != "text":
            yield token
