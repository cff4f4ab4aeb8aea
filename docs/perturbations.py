"""Write docs/perturbations.md from the kinds themselves: python docs/perturbations.py

The description, options and example of a kind come from its code. perturbations.yaml, beside this file, has other
scenarios or calls for kinds whose example would show nothing. Each example is run, and the page shows the outcome.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from mcp_sim import Simulator
from mcp_sim.cli.list import about, example, option_lines, permission
from mcp_sim.cli.terminal import Palette
from mcp_sim.server.call_log import entry_lines, shorten
from mcp_sim.spec import yaml12
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.world.world import World

HERE = Path(__file__).parent
PAGE = HERE / "perturbations.md"
OVERRIDES = HERE / "perturbations.yaml"

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

All kinds of perturbations, as `mcp-sim list perturbations NAME` prints them. `python docs/perturbations.py` generates
this page from the kinds themselves. [scenarios.md](scenarios.md) describes the keys that every entry takes (`tools`,
`when`, `fires`, ...) and the presets that combine kinds.

On the real clock, failures that a caller has to wait for take seconds by default: `timeout` 30, other timeouts 2,
broken connections 1. `after` sets another time. On the virtual clock nothing waits, and time passes only for a given
`after`.

Each example shows the calls (#1, #2, ...), the served results, and after `FAULT` the perturbation, the reason, and the
truth. The calls go to the shipped `crm`, in a new world.
"""

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
            *(f"*{note}*\n" for note in notes),
            f"{inspect.getdoc(kind)}\n",
            *_options(kind),
            *([f"```yaml {override['file']}\n{override['spec'].rstrip()}\n```\n"] if "spec" in override else []),
            f"```yaml\n{scenario.rstrip()}\n```\n",
            "```text",
            *await _run(scenario, override, kind),
            "```\n",
        )
    )


def _options(kind: type[Perturbation]) -> Iterator[str]:
    if kind.model_fields:
        yield "```text"
        yield from (line.rstrip() for line in option_lines(kind, Palette(is_on=False)))
        yield "```\n"


def _scenario(name: str, kind: type[Perturbation]) -> str:
    entry = example(name, kind)
    return f"{permission(entry, kind)}perturbations:\n  - {entry}\n"


async def _run(scenario: str, override: dict[str, Any], kind: type[Perturbation]) -> list[str]:
    """Return the outcome of the calls, and the list of tools if the kind changes it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "shown.yaml")
        if "spec" in override:
            Path(folder, override["file"]).write_text(override["spec"], encoding="utf-8")
        tools = "" if "\ntools:" in f"\n{scenario}" else "tools: crm\n"
        path.write_text(f"mcp_sim: 1\n{tools}{scenario}", encoding="utf-8")
        simulator = Simulator.load(path)
    async with simulator.open() as world:
        lines = [
            line for tool, arguments in override.get("calls", CALLS) for line in await _called(world, tool, arguments)
        ]
        return [*lines, *(_listed(world) if kind.stage is Stage.CATALOGUE else ())]


async def _called(world: World, tool: str, arguments: dict[str, Any]) -> list[str]:
    before = len(world.ledger)
    await world.call(tool, arguments)
    return [line.rstrip() for entry in [*world.ledger][before:] for line in entry_lines(entry)]


def _listed(world: World) -> list[str]:
    """Return the first tools of the final list."""
    tools = [tool for server in world.scenario.servers for tool in world.catalogue(server)]
    shown = [f"   {tool.name}: {shorten(tool.definition.get('description', ''))}" for tool in tools[:4]]
    return [f"tools/list -> {len(tools)} tools:", *shown, "   ..."]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
