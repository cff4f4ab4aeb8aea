"""Checks of a scenario against a transport, made once before serving."""

from __future__ import annotations

from typing import Literal

from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.scenario import Scenario

Transport = Literal["stdio", "http"]

DELIVERABLE: dict[Transport, frozenset[str]] = {
    "stdio": frozenset({"no_answer", "closed", "partial", "garbled"}),
    "http": frozenset({"no_answer", "closed", "partial", "http", "garbled"}),
}

ENDLESS: dict[Transport, frozenset[str]] = {
    "stdio": frozenset({"no_answer", "garbled"}),
    "http": frozenset({"no_answer"}),
}
"""Broken deliveries after which a client waits until it times out."""

REASONS = {
    "http": "an HTTP status needs HTTP",
    "garbled": "over stdio, a call whose answer is garbled is never answered, which needs the real clock",
    "no_answer": "a call that is never answered needs the real clock",
}


def only_server(scenario: Scenario, asked: str | None = None) -> str:
    """Return the name of the server to serve over stdio. Raises `UsageError` for an unknown or ambiguous one."""
    if asked is not None and asked not in scenario.servers:
        raise UsageError(f"the scenario has no server {asked!r}{did_you_mean(asked, scenario.servers)}")
    if asked is None and len(scenario.servers) > 1:
        names = ", ".join(scenario.servers)
        raise UsageError(f"over stdio one server is served, and this scenario has several ({names}): use --server NAME")
    return asked or next(iter(scenario.servers))


def check_deliverable(scenario: Scenario, transport: Transport, clock: Mode) -> None:
    """Raises `UsageError` that names every fault which this transport or clock cannot deliver."""
    carried = DELIVERABLE[transport] - (ENDLESS[transport] if clock == "virtual" else set[str]())
    sentences = [
        f"{entry.id} ({entry.kind}): {REASONS.get(how, how)}"
        for entry in scenario.perturbations
        if entry.enabled
        for how in sorted(entry.perturbation.breaks() - carried)
    ]
    if sentences:
        raise UsageError(f"these faults cannot be served over {transport} with --clock {clock}: {'; '.join(sentences)}")
