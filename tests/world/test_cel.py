"""CEL expressions: what they see of a world, what is refused at load, and their errors."""

from __future__ import annotations

import cel
import pytest

from mcp_sim.types import Change
from mcp_sim.types.clock import DEFAULT_NOW
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.errors import Unevaluable
from mcp_sim.world.cel import FUNCTIONS, Expression, expression, functions, table_names, tables
from mcp_sim.world.state import State

NUMBER = {"type": ["number", "null"]}
LINES = {"type": "array", "items": {"type": "object", "properties": {"price": {"anyOf": [{"type": "number"}]}}}}
DEAL = Entity(
    "deal",
    fields={
        "id": Field("id", {"type": "string"}),
        "title": Field("title", {"type": "string"}),
        "amount": Field("amount", NUMBER),
        "pieces": Field("pieces", {"type": "integer"}),
        "lines": Field("lines", LINES),
    },
)
DOMAIN = Domain({}, {"deal": DEAL, "order-line": Entity("order-line"), "list": Entity("list")}, {}, "", DEFAULT_NOW)
WORLD = State.of(
    {
        "deal": {
            "d1": {"id": "d1", "title": "a", "amount": 4, "pieces": 2, "lines": [{"price": 1}]},
            "d2": {"id": "d2", "title": "b", "amount": 2.5, "pieces": 3},
            "d3": {"id": "d3"},
        },
        "order-line": {"o1": {"id": "o1", "qty": 1}},
        "list": {},
    }
)


def compiled(text: str) -> Expression:
    return expression(text, table_names(DOMAIN))


def holds(text: str, world: State = WORLD) -> bool:
    condition = compiled(text)
    return condition.holds(tables(world, DOMAIN, condition.uses), functions(world, DOMAIN))


@pytest.mark.parametrize(
    "text",
    [
        "deal.size() == 3",
        "deal.map(d, d.id) == ['d1', 'd2', 'd3']",
        "deal.exists(d, d.title == 'a' && d.amount == 4)",
        "deal[0].amount / 2.0 == 2.0",
        "deal[0].pieces * 2 == 4",
        "deal[0].lines[0].price + 0.5 == 1.5",
        "deal[2].title == null && deal[2].amount == null",
        "!has(tables['order-line'][0].price)",
        "tables['order-line'].size() == 1 && tables['deal'].size() == 3",
        "list.size() == 0",
        "sum(deal.filter(d, d.amount != null).map(d, d.amount)) == 6.5",
        "sum([]) == 0 && sum([1, 2]) == 3 && sum(1.5, 2.0) == 3.5",
        "min(3, 1) == 1 && max([1.5, 2.5]) == 2.5 && max(deal.map(d, d.id)) == 'd3'",
        "find('deal', {'title': {'in': ['a', 'b']}, 'amount': {'gt': 3}}).map(d, d.id) == ['d1']",
        "find('deal', {'amount': null}).size() == 1",
        "find('deal', {}).all(d, deal.exists(e, e.id == d.id))",
        "type(1) == int",
        "'d(' == \"d(\" && deal.all(d, d.id != '(')  // d",
    ],
)
def test_an_expression_sees_the_declared_fields_of_tables(text: str) -> None:
    assert holds(text)


def test_an_expression_sees_writes_in_the_order_of_creation() -> None:
    written = WORLD.apply([Change("put", "deal", "d4", {"id": "d4", "amount": 7}), Change("remove", "deal", "d1")])
    assert holds("deal.map(d, d.id) == ['d2', 'd3', 'd4'] && deal[2].amount / 2.0 == 3.5", written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deel.size() == 1", "unknown name 'deel'; did you mean 'deal'?"),
        ("deal.exists(d, d.id == x)", "unknown name 'x'"),
        ("deal.all(d, true) && d == 1", "unknown name 'd'"),
        ("deal.map(d, d.id) == [d]", "unknown name 'd'"),
        ("args.title == 'a'", "unknown name 'args'"),
        ("deal.sizes() == 1", "unknown function 'sizes'; did you mean 'size'?"),
        ("fnd('deal', {}) == []", "unknown function 'fnd'; did you mean 'find'?"),
        ("deal.size() ==", "it is incomplete"),
        ("", "it is empty"),
    ],
)
def test_an_unknown_name_or_bad_syntax_is_refused_at_load(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        compiled(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deal.size()", "it gives 3, which is neither true nor false"),
        ("deal[9].id == 'a'", "index out of bounds"),
        ("tables['order-line'][0].price == 1", "no such field: 'price'"),
        ("tables['deel'].size() == 1", "no such field: 'deel'"),
        ("deal[2].amount > 1.0", "No such overload"),
        ("1 / 0 == 1", "division by zero"),
        ("9223372036854775807 + 1 > 0", "overflow"),
        ("sum(deal.map(d, d.amount)) > 1.0", "sum: null is not a number"),
        ("min([]) == 1", "min: the list is empty"),
        ("find('deel', {}) == []", "find: unknown entity 'deel'; did you mean 'deal'?"),
        ("find('deal', {'id': {'contain': 'x'}}) == []", "did you mean 'contains'?"),
        ("deal[0].title.matches('(')", "not a valid regex"),
    ],
)
def test_an_expression_that_cannot_be_evaluated_says_why(
    text: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Unevaluable) as failed:
        holds(text)
    assert message in str(failed.value)
    assert text in str(failed.value)
    assert capfd.readouterr() == ("", "")


TARGETS = ("'a'", "optional", "optional.of(1)", "timestamp('2029-01-01T00:00:00Z')")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_allowed_function_exists_in_the_library(name: str) -> None:
    forms = [f"{name}({argument})" for argument in ("", "1", "'a'")]
    forms += [f"{target}.{name}({argument})" for target in TARGETS for argument in ("", "1", "'a'", "optional.none()")]
    assert any(map(is_known, forms))


def is_known(text: str) -> bool:
    try:
        cel.evaluate(text)
    except Exception as error:  # noqa: BLE001 (the library raises whatever it likes; what it says is looked at)
        return "Undefined" not in str(error)
    return True


def test_only_the_tables_that_are_used_are_bound() -> None:
    assert set(tables(WORLD, DOMAIN, compiled("deal.size() == 1").uses)) == {"deal", "tables"}
    assert set(tables(WORLD, DOMAIN, compiled("tables['deal'].size() == 1").uses)) == {*DOMAIN.entities, "tables"}
