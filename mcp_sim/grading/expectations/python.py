"""The expectation that a Python function of the user judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator
from rpds import List

from mcp_sim.grading.bases import MOST_STEPS, judged
from mcp_sim.programs.loading import failed_at, load_functions, reason
from mcp_sim.types import Step
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_values import decode
from mcp_sim.types.kinds import End, Expectation, Verdict, expectations
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.trace import step_bytes

_OUTCOMES: Mapping[bool | None, Literal["passed", "failed", "not judged"]] = {
    True: "passed",
    False: "failed",
    None: "not judged",
}


@expectations.register("python")
class Python(Expectation):
    """At the end, a Python function says so: `python: checks.py:order_is_paid`, a file beside the scenario.

    The function gets the state (`count`, `get`, `find`, `rows`), the steps as a trace has them, and the agent's final
    answer, None if it is not known. It returns True, False, or None for "not judged"; or a tuple of that, a sentence
    that says why, and the numbers of the steps that decided. An AssertionError is a failure, too. Any other exception
    and any other result is not judged, since it shows nothing about the agent.

    The code runs only with your trust, as a program does. Vacuous if the function passes and no tool was called.
    """

    function: str = Field(
        description="FILE:FUNCTION; the file is relative to the scenario.", examples=["checks.py:order_is_paid"]
    )

    _read: Mapping[Path, bytes] = PrivateAttr(default_factory=dict[Path, bytes])

    @field_validator("function")
    @classmethod
    def _names_a_function(cls, value: str) -> str:
        file, _, name = value.rpartition(":")
        if not file.endswith(".py") or not name.isidentifier():
            raise ValueError(f"expected FILE:FUNCTION, as in checks.py:order_is_paid, got {value!r}")
        return value

    @property
    def code(self) -> str:
        return self.function

    def with_code(self, code: Mapping[Path, bytes]) -> Self:
        copy = self.model_copy(update={"function": f"{next(iter(code))}:{self._name}"})
        copy._read = code  # noqa: SLF001 (its own copy)
        return copy

    @property
    def _name(self) -> str:
        return self.function.rpartition(":")[2]

    @property
    def _file(self) -> Path:
        return Path(self.function.rpartition(":")[0])

    @cached_property
    def _judge(self) -> Callable[..., Any]:
        return load_functions(self._read)[self._name]

    def facts(self) -> List[Step]:
        return List()

    def notice(self, facts: List[Step], step: Step, scenario: Scenario) -> List[Step]:
        return facts.push_front(step)

    def verdict(self, facts: List[Step], end: End) -> Verdict:
        steps = [*facts][::-1]
        try:
            result = self._judge(end.view, [decode(step_bytes(step)) for step in steps], end.answer)
        except AssertionError as error:
            result = False, str(error) or f"{failed_at(error, self._file)}: an assertion does not hold"
        except DocumentError as error:
            return judged("not judged", str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (code of the user)
            return judged("not judged", f"{failed_at(error, self._file)}: {reason(error)}")
        name, numbers = f"{self._file.name}:{self._name}", list[int]()
        match result:
            case bool() | None as passed:
                because = f"{name} returned {passed}"
            case (bool() | None as passed, str(because)):
                pass
            case (bool() | None as passed, str(because), [*given]) if all(isinstance(n, int) for n in given):
                numbers = given
            case _:
                expected = "True, False or None, or a tuple of that, a sentence and a list of steps"
                return judged("not judged", f"{name} returned {result!r}, expected {expected}")
        if passed and not any(step.entry == "call" for step in steps):
            return judged("vacuous", f"{because}, but no tool was called")
        deciding = [step for step in steps if step.n in numbers or not numbers]
        guessed = any(step.guessed for step in deciding)
        return Verdict(_OUTCOMES[passed], because, tuple(numbers[:MOST_STEPS]), guessed)
