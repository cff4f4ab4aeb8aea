"""Write the page of each service of the catalogue: python tests/support/catalogue_pages.py"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.parts.tool_spec import SimulatesPart, ToolSpecDocument
from mcp_sim.spec.sources import shipped
from mcp_sim.types.json_schema.shapes import as_object

FOLDER = Path(__file__).parents[2] / "tool_specs"
NOTE = "<!-- Generated from the specs of this folder: python tests/support/catalogue_pages.py -->"


def pages() -> dict[Path, str]:
    """Return the text of each page by its file."""
    return {folder / "README.md": page(folder) for folder in sorted(FOLDER.iterdir()) if any(folder.glob("*.yaml"))}


def page(folder: Path) -> str:
    """Return the page of a service: what each of its specs simulates, and how to use it."""
    sections = ["\n".join(section(path)) for path in sorted(folder.glob("*.yaml"))]
    return "\n".join([NOTE, "", *sections])


def section(path: Path) -> Iterator[str]:
    """Yield the lines about one spec."""
    name, document = path.stem, ToolSpecDocument.model_validate(_value(path))
    yield f"# {document.title or name}\n"
    yield f"{comment(path)}\n"
    if document.simulates is not None:
        yield from simulated(document.simulates)
    else:
        yield "It stands for no published server.\n"
    yield "## Tools\n"
    plans = load(name).domain.plans
    for how, is_program in (("Answered by the program", True), ("Answered by their plans", False)):
        tools = [f"`{tool}`" for tool, plan in plans.items() if (plan.backend == "program") == is_program]
        if tools:
            yield f"{how} ({len(tools)}): {', '.join(tools)}.\n"
    if name in scenarios():
        yield "## Scenarios\n"
        yield from (f"- `{scenario}`: {comment(shipped('scenarios')[scenario])}" for scenario in scenarios()[name])
        yield ""
    yield "## Use\n"
    yield f"`tools: {name}` in a scenario, `mcp-sim serve {name}` for a world without faults,"
    yield f"`mcp-sim client-config {name} --client CLIENT` for a client's configuration.\n"


def simulated(simulates: SimulatesPart) -> Iterator[str]:
    """Yield the lines about the server that a spec stands for."""
    yield f"It stands for {simulates.server}. Compared versions of its list of tools:\n"
    yield from (f"- {version}: {text}" for version, text in simulates.versions.items())
    yield ""
    if simulates.measured is None:
        yield "Fidelity: not measured.\n"
    else:
        yield f"Fidelity: {simulates.measured.score} on {simulates.measured.calls} recorded calls of the real server.\n"
    if simulates.state is not None:
        yield f"`world.state` may set {simulates.state}.\n"
    if simulates.missing is not None:
        yield f"{simulates.missing}\n"


@cache
def scenarios() -> dict[str, list[str]]:
    """Return the shipped scenarios by the specs that they use."""
    users: dict[str, list[str]] = {}
    for scenario, path in shipped("scenarios").items():
        tools = as_object(_value(path)).get("tools")
        for name in as_object(tools).values() if isinstance(tools, dict) else [tools]:
            users.setdefault(str(as_object(name).get("source", name)), []).append(scenario)
    return users


def comment(path: Path) -> str:
    """Return the comment that a document begins with, as text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return " ".join(line.removeprefix("#").strip() for line in lines[:end])


def _value(path: Path) -> object:
    return yaml12.load(path.read_bytes(), path.name).value


if __name__ == "__main__":
    for file, text in pages().items():
        file.write_text(text, encoding="utf-8")
