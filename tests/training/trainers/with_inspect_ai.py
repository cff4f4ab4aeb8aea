"""Inspect 0.3.285: mean and pass^2 of a scripted model, as computed by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from mcp_sim.training.adapters.inspect_ai import mcp_sim

NAME = "mockllm/model"


def outputs() -> Iterator[ModelOutput]:
    """Yield the turns of four episodes: the first three do the task, the last one only a part of it."""
    create = {
        "title": "Spring order",
        "amount": 4000,
        "currency": "EUR",
        "contact_id": "con_00001",
        "stage": "qualified",
    }
    del create["stage"]
    for number in range(4):
        turns = [ModelOutput.for_tool_call(NAME, "create_deal", create)]
        if number < 3:
            turns.append(ModelOutput.for_tool_call(NAME, "update_deal", {"deal_id": "deal_0081", "stage": "proposal"}))
        turns.append(ModelOutput.from_content(NAME, "Done: deal_0081."))
        for turn in turns:
            turn.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else they are counted online
            yield turn


[log] = evaluate(
    mcp_sim("calm_crm", seeds=2, epochs=2, k=2),
    model=get_model(NAME, custom_outputs=outputs()),
    display="none",
    log_dir=sys.argv[1],
    max_samples=1,
)
assert log.status == "success", log.error
values = {score.reducer: score.metrics["mean"].value for score in log.results.scores}
passed = {(sample.id, sample.epoch): sample.scores["passed"].value for sample in log.samples}
assert sum(passed.values()) == 3, passed
# Three of four episodes pass: the mean is .75. One of the two seeds passes twice: pass^2 is .5.
assert values == {"mean": 0.75, "pass_k_2": 0.5}, values
print("Inspect:", values)
