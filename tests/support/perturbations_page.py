"""Write docs/perturbations.md from the kinds themselves: python tests/support/perturbations_page.py

The description, options and example of a kind come from its code. perturbations_page.yaml, beside this file, has other
scenarios or calls for kinds whose example would show nothing. Each example is run, and the page shows the first call
at which the fault was applied.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from mcp_sim import Simulator
from mcp_sim.cli.list import about, example, options, permission
from mcp_sim.server.call_log import render_observation, render_truth
from mcp_sim.spec import yaml12
from mcp_sim.types import Observation, ToolResult
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.world.trace import step_from_json
from mcp_sim.world.world import World

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "perturbations.md"
OVERRIDES = HERE / "perturbations_page.yaml"

STAGES = {
    Stage.BEFORE: "Before the call",
    Stage.COMMIT: "What is committed",
    Stage.ANSWER: "What is answered",
    Stage.TRANSPORT: "How it is delivered",
    Stage.CATALOGUE: "What is listed",
    Stage.WORLD: "What others do",
}

HEAD = """\
# Perturbations

All kinds of faults that ship, generated from the code, like `mcp-sim list perturbations NAME`. The keys that every
entry takes (`tools`, `when`, `fires`, ...) and the presets are described under [scenarios](scenarios.md#faults).

- *Implicit*: the agent gets no sign of the fault.
- A fault that finds nothing to change has the outcome `no_effect` in the ledger.
- `after` is how long the agent waits, by default 0s; on the real clock 1 or 2 s where a caller would have waited. The
  virtual clock advances without waiting.
- `message` is the error text. Default: that of the [tool spec](tool-specs.md#failures), else a generic one.
- An option has its default in brackets, else its type; `mcp-sim list` shows both.
- `announced` (default false): clients are notified that the list of tools has changed.

Each example shows an entry of `perturbations:`, and a call at which it was applied: what the agent got, and what was
true if the call reached the world. Tools are those of `crm`, unless the example names others.
"""

SHARED = ("The error text", "How long the agent waits for the error.", "Whether clients are notified that")
"""How the descriptions of the options begin that HEAD describes for all kinds."""

WIDTH = 85
"""How many characters of an answer an example shows: longer lines scroll on GitHub."""

CONTEXT = 30
"""How many characters an example shows before the first difference between answer and truth."""

CALLS: list[list[Any]] = [
    ["create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}],
    ["list_deals", {"limit": 2}],
    ["update_deal", {"deal_id": "deal_0001", "stage": "won"}],
    ["get_deal", {"deal_id": "deal_0001"}],
]


def page() -> str:
    """Return the page."""
    return asyncio.run(_page())


async def _page() -> str:
    overrides = cast("dict[str, Any]", yaml12.load(OVERRIDES.read_bytes(), str(OVERRIDES)).value)
    parts = [HEAD]
    for stage, title in STAGES.items():
        parts.append(f"## {title}\n")
        names = [name for name in perturbations.names() if perturbations[name].stage is stage]
        parts += [await _section(name, perturbations[name], overrides.get(name, {})) for name in names]
    return "\n".join(parts)


async def _section(name: str, kind: type[Perturbation], override: dict[str, Any]) -> str:
    scenario: str = override.get("scenario") or _scenario(name, kind)
    notes = [note for note in about(kind) if not note.startswith("stage")]
    return "\n".join(
        (
            f"### {name}\n",
            *(f"*{note.partition(':')[0]}*\n" for note in notes),
            f"{inspect.getdoc(kind)}\n",
            *_options(kind),
            "```text",
            scenario.removeprefix("perturbations:\n  - ").rstrip(),
            "",
            *await _run(scenario, override, kind),
            "```\n",
        )
    )


def _options(kind: type[Perturbation]) -> Iterator[str]:
    shown = [option for option in options(kind) if not option[2].startswith(SHARED)]
    shared = [f"`{option[0]}`" for option in options(kind) if option[2].startswith(SHARED)]
    for name, type_and_default, description in shown:
        words, _, default = type_and_default.rpartition(", default ")
        choices = "" if words == "true | false" or " | " not in words else f"{words.replace(' | ', ', ')}; "
        yield (
            f"- `{name}` ({choices}default {default}): {description}"
            if words
            else f"- `{name}` ({default}): {description}"
        )
    yield from [f"- also {', '.join(shared)}"] if shared else []
    if shown or shared:
        yield ""


def _scenario(name: str, kind: type[Perturbation]) -> str:
    entry = example(name, kind)
    return f"{permission(entry, kind)}perturbations:\n  - {entry}\n"


async def _run(scenario: str, override: dict[str, Any], kind: type[Perturbation]) -> list[str]:
    """Return the first call at which the fault was applied, and the list of tools if the kind changes it."""
    async with _simulator(scenario, override).open() as world:
        for tool, arguments in override.get("calls", CALLS):
            await world.call(tool, arguments)
        return [*_first_applied(world), *(_listed(world) if kind.stage is Stage.CATALOGUE else ())]


def _simulator(scenario: str, override: dict[str, Any]) -> Simulator:
    with TemporaryDirectory() as folder:
        path = Path(folder, "shown.yaml")
        if "spec" in override:
            Path(folder, override["file"]).write_text(override["spec"], encoding="utf-8")
        tools = "" if "\ntools:" in f"\n{scenario}" else "tools: crm\n"
        path.write_text(f"mcp_sim: 1\n{tools}{scenario}", encoding="utf-8")
        return Simulator.load(path)


def _first_applied(world: World) -> Iterator[str]:
    """Yield the first call at which a fault was applied: what was served, and what was true if a world answered."""
    steps = [step_from_json(entry["step"]) for entry in world.ledger if "step" in entry]
    for step in steps:
        if step.served is not None and any(decision.outcome == "applied" for decision in step.perturbations):
            served = _line(step.served)
            answer = "" if step.truth is None else _line(step.truth.observation)
            start = max(_first_difference(served, answer) - CONTEXT, 0)
            yield f"{step.tool} -> {_cut(served, start)}"
            if step.truth is not None:
                yield f"the truth: {render_truth(step) if step.committed else _cut(answer, start) or 'no output'}"
            return


def _line(observation: Observation) -> str:
    """Render an observation as one line, a result in full."""
    is_result = isinstance(observation.body, ToolResult) and not observation.body.is_error
    return " ".join(observation.text.split()) if is_result else render_observation(observation)


def _first_difference(served: str, answer: str) -> int:
    pairs = enumerate(zip_longest(served, answer))
    return next((index for index, (left, right) in pairs if left != right), 0)


def _cut(text: str, start: int) -> str:
    shown = text[start : start + WIDTH]
    return f"{'...' if start else ''}{shown}{'...' if len(text) > start + WIDTH else ''}"


def _listed(world: World) -> list[str]:
    """Return the length and the first tool of the final list."""
    tools = [tool for server in world.scenario.servers for tool in world.catalogue(server)]
    shown = [f"   {tool.name}: {tool.definition.get('description', '')[:40]}..." for tool in tools[:1]]
    return [f"tools/list -> {len(tools)} tools:", *shown, "   ..."]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
