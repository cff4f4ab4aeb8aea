"""What verdicts say: the message of the scenario, and values beside those that were expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SMALL_CRM
from support.deals import CREATE, SPRING

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.grades import GradedVerdict

Crm = Callable[[str], Simulator]


async def verdict(simulator: Simulator, calls: int = 1, answer: str | None = None) -> GradedVerdict:
    """Return the verdict after the deal was created so many times."""
    async with simulator.open() as world:
        for _ in range(calls):
            await world.call(*CREATE)
        return world.grade(answer).verdicts[0]


@pytest.mark.parametrize(
    ("condition", "differences"),
    [
        ("{entity: deal, where: {title: Spring order, amount: 9500}, count: 1}",
         ["number of deal records that fit is 0, expected 1", "amount of deal deal_0003 is 4000, expected 9500"]),
        ("{entity: deal, where: {id: deal_0003, amount: 9500, stage: won}}",
         ["number of deal records that fit is 0, expected at least 1",
         "amount of deal deal_0003 is 4000, expected 9500", 'stage of deal deal_0003 is "qualified", expected "won"']),
        ("{entity: deal, where: {title: Spring order}, count: 2}",
         ["number of deal records that fit is 1 (deal_0003), expected 2"]),
        ("find('deal', {'title': 'Spring order'})[0].amount == 9500.0", ["amount is 4000, expected 9500"]),
        ("deal.size() == 3 && deal.size() < 2", ["deal.size() is 3, expected < 2"]),
        ("deal.exists(d, d.title == 'Spring order' && d.stage == 'won')",
         ['stage of deal deal_0003 is "qualified", expected "won"']),
        ("deal.all(d, d.title != 'Spring order' || d.amount > 1e6)", []),
        ("deal.all(d, d.id != 'deal_0003')", ['id of deal deal_0003 is "deal_0003", expected != "deal_0003"']),
        ("!deal.exists(d, d.title == 'Spring order')", []),
        ("deal[0].title.startsWith('(') && '&&' == ')'", []),
    ],
)  # fmt: skip
async def test_a_failed_condition_shows_values_beside_those_expected(
    condition: str, differences: list[str], crm: Crm
) -> None:
    failed = await verdict(crm(f"expect:\n  - state: {_quoted(condition)}\n"))
    assert failed.outcome == "failed"
    assert [str(difference) for difference in failed.differences if "'&&'" not in condition] == differences
    assert all(text in failed.because for text in differences[1 if "number of" in "".join(differences) else 0 :])


def _quoted(condition: str) -> str:
    return condition if condition.startswith("{") else '"' + condition.replace('"', '\\"') + '"'


async def test_a_condition_that_holds_has_no_differences(crm: Crm) -> None:
    assert (await verdict(crm("expect: [{state: deal.size() == 3}]"))).differences == ()


async def test_the_message_of_an_expectation_is_shown_only_when_it_fails(crm: Crm) -> None:
    ending = "expect: [{state: deal.size() == 3, message: The customer is billed twice.}]"
    assert "billed" not in (await verdict(crm(ending))).because
    failed = await verdict(crm(ending), calls=2)
    assert failed.because == "The customer is billed twice. (deal.size() == 3 is false; deal.size() is 4, expected 3)"


CHECKS = """
from rules import TITLE


def once(state, steps, answer):
    deals = [key for key, deal in state.rows("deal") if deal["title"] == TITLE]
    calls = [step["n"] for step in steps if step["entry"] == "call"]
    return len(deals) == 1, f"{len(deals)} deals: {', '.join(deals)}", calls


def asserts(state, steps, answer):
    assert answer == "Done.", f"the answer is {answer}"
    return True


def unknown(state, steps, answer):
    return None


def forgetful(state, steps, answer):
    return "ok"


def broken(state, steps, answer):
    return steps[99]


def two(state, steps):
    return True
"""


@pytest.fixture
def judged_by(tmp_path: Path) -> Callable[..., Simulator]:
    """A function that opens the CRM with an expectation in Python, with trust unless it is refused."""
    (tmp_path / "checks.py").write_text(CHECKS, encoding="utf-8")
    (tmp_path / "rules.py").write_text(f"TITLE = {SPRING['title']!r}\n", encoding="utf-8")

    def opened(reference: str, *, trust: bool = True) -> Simulator:
        path = tmp_path / "scenario.yaml"
        path.write_text(f"{SMALL_CRM}expect:\n  - python: {reference}\n", encoding="utf-8")
        return Simulator.load(path, trust=trust)

    return opened


@pytest.mark.parametrize(
    ("function", "calls", "outcome", "because"),
    [
        ("once", 1, "passed", "1 deals: deal_0003"),
        ("once", 2, "failed", "2 deals: deal_0003, deal_0004"),
        ("asserts", 1, "failed", "the answer is Oh."),
        ("unknown", 1, "not judged", "checks.py:unknown returned None"),
        ("forgetful", 1, "not judged", "checks.py:forgetful returned 'ok', expected True, False or None, or a tuple"),
        ("broken", 1, "not judged", "checks.py:25 in broken: IndexError: list index out of range"),
    ],
)
async def test_a_python_function_judges_what_it_is_given(
    function: str, calls: int, outcome: str, because: str, judged_by: Callable[..., Simulator]
) -> None:
    simulator = judged_by(f"checks.py:{function}")
    found = await verdict(simulator, calls, "Oh.")
    assert (found.id, found.outcome) == (f"python-{function}", outcome)
    assert found.because.startswith(because)
    assert found.steps == (tuple(range(2, calls + 2)) if function == "once" else ())


async def test_a_python_function_that_passes_an_idle_agent_is_vacuous(judged_by: Callable[..., Simulator]) -> None:
    assert (await verdict(judged_by("checks.py:asserts"), calls=0, answer="Done.")).outcome == "vacuous"


async def test_a_python_function_runs_only_with_trust(judged_by: Callable[..., Simulator]) -> None:
    simulator = judged_by("checks.py:once", trust=False)
    with pytest.raises(DocumentError, match="runs the Python function once"):
        await verdict(simulator)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("checks.py:onec", "checks.py has no function 'onec'; did you mean 'once'?"),
        ("checks.py:two", "two takes 2 arguments, expected 3: the state, the steps, and the final answer"),
        ("check.py:once", "file 'check.py' not found"),
        ("once", "expected FILE:FUNCTION, as in checks.py:order_is_paid, got 'once'"),
    ],
)
def test_a_python_function_that_cannot_be_called_is_an_error_of_the_document(
    reference: str, message: str, judged_by: Callable[..., Simulator]
) -> None:
    with pytest.raises(DocumentError) as raised:
        judged_by(reference)
    assert message in str(raised.value)
