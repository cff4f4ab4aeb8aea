"""Writes docs/perturbations.md from the kinds themselves: python docs/perturbations.py

What a kind does and takes stands in its code, and so does its example; perturbations.yaml beside this file has a better
scenario, or other calls, for those that show nothing otherwise. Each example is run, and what came of it is shown.
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
from mcp_sim.server.call_log import shortened, told
from mcp_sim.spec import yaml12
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.world import World

HERE = Path(__file__).parent
PAGE = HERE / "perturbations.md"
BESIDE = HERE / "perturbations.yaml"

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

Every way in which a backend lets an agent down, as `mcp-sim list perturbations NAME` prints it. This page is made from
the kinds themselves, by `python docs/perturbations.py`. What can stand beside a kind (`tools`, `when`, `fires`, ...)
and the presets that combine them: [scenarios.md](scenarios.md).

Below each example stands what it does: the calls that were made (#1, #2, ...), what was served, and behind `FAULT`
which perturbation struck, why, and what was true. The calls go to the `crm` that ships, in a world of its own.
"""

CALLS: list[list[Any]] = [
    ["create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}],
    ["list_deals", {"limit": 2}],
    ["update_deal", {"deal_id": "deal_0001", "stage": "won"}],
    ["get_deal", {"deal_id": "deal_0001"}],
]


def page() -> str:
    """The page as it should be."""
    return asyncio.run(_page())


async def _page() -> str:
    beside = cast("dict[str, Any]", yaml12.load(BESIDE.read_bytes(), str(BESIDE)).value)
    parts = [HEAD]
    for stage, title in STAGES.items():
        parts.append(f"## {title}\n")
        names = [name for name in perturbations.names() if perturbations[name].stage is stage]
        parts += [await _section(name, perturbations[name], beside.get(name, {})) for name in names]
    return "\n".join(parts)


async def _section(name: str, kind: type[Perturbation], said: dict[str, Any]) -> str:
    scenario: str = said.get("scenario") or _scenario(name, kind)
    notes = [note for note in about(kind) if not note.startswith("stage")]
    return "\n".join(
        (
            f"### {name}\n",
            *(f"*{note}*\n" for note in notes),
            f"{inspect.getdoc(kind)}\n",
            *_options(kind),
            *([f"```yaml {said['file']}\n{said['spec'].rstrip()}\n```\n"] if "spec" in said else []),
            f"```yaml\n{scenario.rstrip()}\n```\n",
            "```text",
            *await _run(scenario, said, kind),
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


async def _run(scenario: str, said: dict[str, Any], kind: type[Perturbation]) -> list[str]:
    """What the calls come to, and what is listed where that is what the kind changes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "shown.yaml")
        if "spec" in said:
            Path(folder, said["file"]).write_text(said["spec"], encoding="utf-8")
        tools = "" if "\ntools:" in f"\n{scenario}" else "tools: crm\n"
        path.write_text(f"mcp_sim: 1\n{tools}{scenario}", encoding="utf-8")
        simulator = Simulator.load(path)
    async with simulator.open() as world:
        lines = [line for tool, arguments in said.get("calls", CALLS) for line in await _called(world, tool, arguments)]
        return [*lines, *(_listed(world) if kind.stage is Stage.CATALOGUE else ())]


async def _called(world: World, tool: str, arguments: dict[str, Any]) -> list[str]:
    before = len(world.ledger)
    await world.call(tool, arguments)
    return [line.rstrip() for entry in [*world.ledger][before:] for line in told(entry)]


def _listed(world: World) -> list[str]:
    """The first tools that are listed in the end."""
    tools = [tool for server in world.scenario.servers for tool in world.catalogue(server)]
    shown = [f"   {tool.name}: {shortened(tool.definition.get('description', ''))}" for tool in tools[:4]]
    return [f"tools/list -> {len(tools)} tools:", *shown, "   ..."]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
