"""A scenario as a task of Inspect 0.3.285: a sample per seed, an episode per sample and epoch.

inspect eval mcp_sim/training/adapters/inspect_ai.py -T scenario=flaky_crm -T seeds=8 --model ...
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams
from inspect_ai.util import store

from mcp_sim.training import Answer, Environment, ToolCall

KEPT = "mcp_sim_episode"  # the place of the episode in the store of a sample


class _Episode:
    """Keeps an environment in the store, which copies and logs what is in it."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def __deepcopy__(self, _memo: dict[int, Any]) -> _Episode:
        return self


def _tool(environment: Environment, definition: dict[str, Any]) -> Tool:
    async def call(**arguments: Any) -> str:
        if environment.done:
            raise ToolError("the episode is over")
        message = (await environment.astep(ToolCall(definition["name"], arguments))).messages[0]
        if message.is_error:
            raise ToolError(message.text)
        return message.text

    schema = definition["input_schema"]
    parameters = ToolParams.model_validate(
        {"properties": schema.get("properties", {}), "required": schema.get("required", [])}
    )
    description = definition["description"] or definition["name"]
    return ToolDef(call, definition["name"], description, parameters, parallel=False).as_tool()


@solver
def in_episode(scenario: str, options: dict[str, Any]) -> Solver:
    """Begin the episode of this sample and epoch, and let the model call its tools until it answers."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        environment = Environment(scenario, **options)
        environment.reset(seed=state.metadata["seed"], stream=f"epoch {state.epoch}" if state.epoch > 1 else "")
        state.tools = [_tool(environment, definition) for definition in environment.tools("anthropic")]
        store().set(KEPT, _Episode(environment))
        return await generate(state)

    return solve


@scorer(metrics=[mean(), stderr()])
def passed() -> Scorer:
    """1 if the episode passed, 0 if not; unscored if mcp-sim crashed."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 (a Scorer)
        environment = store().get(KEPT).environment
        if not environment.done:
            environment.step(Answer(state.output.completion))
        grade, reward = environment.grade(), environment.reward()
        value = float("nan") if reward is None else float(grade.outcome == "passed")
        verdicts = {verdict.id: verdict.outcome for verdict in grade.verdicts}
        about = {"reward": reward, "reward_guessed": grade.reward_guessed, "outcome": grade.outcome, **verdicts}
        return Score(value=value, answer=environment.answer, explanation=grade.because, metadata=about)

    return score


@task
def mcp_sim(scenario: str = "flaky_crm", seeds: int = 4, epochs: int = 4, k: int = 2, **options: Any) -> Task:
    """Return the task: `seeds` samples, each `epochs` times; `k`: the k of pass^k."""
    prompt = Environment(scenario, **options).task
    samples = [Sample(id=f"seed-{seed}", input=prompt, metadata={"seed": seed}) for seed in range(seeds)]
    reducers = ["mean", f"pass_k_{k}"]
    return Task(
        dataset=samples,
        solver=in_episode(scenario, options),
        scorer=passed(),
        epochs=Epochs(epochs, reducers),
        message_limit=60,
    )
