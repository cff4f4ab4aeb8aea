"""Properties of every kind of perturbation that ships, tried on calls that it affects and calls that it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.fault_specs import CHARGES, NO_CHARGES, NO_NOTES, NO_REPORTS, NOTES, PAGES, REPORTS, Batches
from support.perturbed import ADA, ALL, DEAL, HALF, SPRING, Calls, Crm, repeats_and_differs

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Tool
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import perturbations
from mcp_sim.types.scenario import WorldModelEntry
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

GET = ("get_contact", ADA)
MISSING = ("get_contact", {"contact_id": "con_99999"})
LIST: tuple[str, dict[str, Any]] = ("list_deals", ALL)
CREATE = ("create_deal", SPRING)
UPDATE = ("update_deal", {**DEAL, "stage": "lost"})
REPORT = ("create_report", {"title": "Spring"})
IMPORT = ("import_notes", {"titles": ["a", "b", "c", "d"]})
CHARGE = ("create_charge", {"amount": 5, "idempotency_key": "k-1"})
READ = ("web_search", {"query": "arches"})
COMMAND = ("bash", {"command": "pwd"})
APPEND = ("bash", {"command": "echo more >> README.md"})
TESTS: tuple[str, dict[str, Any]] = ("run_tests", {})
RESTART = ("bash", {"restart": True})
OPEN = ("browser_navigate", {"url": "https://wheelhouse.example/"})
SNAPSHOT: tuple[str, dict[str, Any]] = ("browser_snapshot", {})
ONE_NOTE = ("import_notes", {"titles": ["a"]})


@dataclass(frozen=True)
class Trial:
    """Options of a kind, calls that it affects, and calls (with other options) on which it has no effect."""

    options: Any
    affected: Calls = (LIST,)
    unaffected: Calls = ()
    harmless: Any = None


TRIALS: dict[str, Trial] = {
    "async_job": Trial({"status_tool": "get_job"}, [REPORT], [("get_job", {"job_id": "job_001"})]),
    "auth_expiry": Trial({"after": "1 calls"}, [GET, GET], [GET], {"after": "9 calls"}),
    "conflict": Trial({}, [UPDATE], [GET, CREATE]),
    "contradiction": Trial({}, [READ], [READ], {"where": {"title": "Gone"}}),
    "corrupt_values": Trial("noise", [LIST], [MISSING]),
    "delayed_visibility": Trial("5 calls", [CREATE], [LIST]),
    "description_drift": Trial("empty"),
    "disconnect": Trial({}),
    "disk_full": Trial({}, [APPEND], [COMMAND]),
    "distractor_tools": Trial({}, [], [LIST]),
    "drop_fields": Trial(["title"], [LIST], [GET]),
    "duplicate_effect": Trial({}, [CREATE], [LIST, UPDATE]),
    "empty_result": Trial({}, [LIST], [CREATE]),
    "error": Trial({}),
    "external_change": Trial({"do": "edit", "entity": "deal"}, [LIST], [LIST], {"do": "delete", "entity": "activity"}),
    "flaky": Trial({"chance": 1}, [TESTS], [COMMAND]),
    "hang": Trial({}, [COMMAND], [RESTART]),
    "hide_tool": Trial({}),
    "incomplete": Trial(0.5, [LIST], [GET]),
    "injection": Trial({"goal": "obey"}, [LIST], [MISSING]),
    "interrupt": Trial({"kind": "cookies"}, [OPEN]),
    "key_expired": Trial({}, [CHARGE, CHARGE], [CHARGE]),
    "latency": Trial("1s"),
    "layout_change": Trial({}, [OPEN]),
    "lost_ack": Trial({}, [CREATE], [LIST]),
    "malformed": Trial("cut_json", [LIST], [MISSING]),
    "malformed_message": Trial("cut"),
    "natural_language": Trial("be odd", [LIST], [MISSING]),
    "noise_rows": Trial({"source": "invented"}, [LIST], [CREATE]),
    "not_found_glitch": Trial({}, [GET], [LIST, MISSING]),
    "outage": Trial({"lasts": "1h"}, [LIST], [LIST], {"lasts": "1s", "start": "1h"}),
    "oversized": Trial(5_000, [LIST], [MISSING]),
    "pagination": Trial(1, [LIST], [CREATE]),
    "partial_batch": Trial({}, [IMPORT], [ONE_NOTE]),
    "permission_denied": Trial({"entity": "deal"}, [LIST], [GET]),
    "phantom_success": Trial({}, [CREATE], [LIST]),
    "quota_exhausted": Trial({"limit": 1}, [GET, GET], [GET], {"limit": 9}),
    "rate_limit": Trial({"limit": 1, "window": "1h"}, [GET, GET], [GET], {"limit": 9, "window": "1h"}),
    "schema_drift": Trial({"rename_output": {"title": "label"}}, [LIST], [MISSING]),
    "stale_read": Trial({}, [CREATE, LIST], [GET]),
    "stale_refs": Trial({}, [OPEN, SNAPSHOT], [OPEN]),
    "timeout": Trial({}),
    "truncate": Trial(1, [LIST], [GET]),
    "validation_quirk": Trial({"max_length": 5}, [CREATE], [LIST]),
}
HAVE_NO_OTHER = {
    "description_drift", "disconnect", "error", "hide_tool", "interrupt", "latency", "layout_change",
    "malformed_message", "timeout",
}  # fmt: skip
"""Kinds that affect every call of such a tool. Their own tests show calls that they do not affect."""

Try = Callable[..., Simulator]
kinds = pytest.mark.parametrize("kind", TRIALS)


@pytest.fixture
def tried(crm: Crm, tmp_path: Path) -> Try:
    """Return a simulator with one kind, or none, and further keys of the entry."""

    def simulator(kind: str, entry: str = "", beside: Sequence[str] = ()) -> Simulator:
        listed = f"\nallow_adversarial: true\nperturbations: [{', '.join((*([entry] if entry else []), *beside))}]\n"
        if kind == "async_job":
            return Simulator(load(_written(tmp_path, REPORTS, NO_REPORTS + listed)))
        if kind == "key_expired":
            return Simulator(load(_written(tmp_path, CHARGES, NO_CHARGES + listed)))
        if kind in {"disk_full", "flaky", "hang"}:
            return Simulator(load(_written(tmp_path, "", listed, "code")))
        if kind in {"interrupt", "layout_change", "stale_refs"}:
            return Simulator(load(_written(tmp_path, "", listed, "web_shop")))
        if kind == "contradiction":
            return Simulator(load(_written(tmp_path, "", PAGES + listed, "search_world")))
        if kind == "partial_batch":
            batches = (WorldModelEntry(Batches(), "batches"),)
            return Simulator(replace(load(_written(tmp_path, NOTES, NO_NOTES + listed)), world_models=batches))
        return crm(listed)

    return simulator


def _written(folder: Path, spec: str, ending: str, tools: str = "spec.yaml") -> Path:
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(f"mcp_sim: 1\ntools: {tools}\n{ending}", encoding="utf-8")
    return path


def entry(kind: str, rest: str = "", options: Any = None) -> str:
    tools = {"async_job": ", tools: [create_report, get_job]"}.get(kind, "")
    chosen = TRIALS[kind].options if options is None else options
    return f"{{{kind}: {encode(chosen).decode()}, id: it{tools}{rest}}}"


async def walked(simulator: Simulator, made: Calls) -> tuple[World, list[dict[str, Any]], list[timedelta]]:
    """Make the calls; return the world, its steps and the delays."""
    async with simulator.open() as world:
        delays = [(await world.call(tool, arguments)).delay for tool, arguments in made]
        return world, world.ledger.steps, delays


def outcomes(steps: list[dict[str, Any]], name: str = "it") -> list[str]:
    """Return the outcomes of one perturbation, at the calls for which it was decided."""
    return [one["outcome"] for step in steps for one in step.get("perturbations", ()) if one["id"] == name]


def listed(world: World) -> list[dict[str, Any]]:
    """Return the listed tools without their outputSchemas, which are not listed where answers may violate them."""
    tools: list[Tool] = [tool for server in world.scenario.servers for tool in world.catalogue(server)]
    return [{name: part for name, part in tool.definition.items() if name != "outputSchema"} for tool in tools]


def test_every_kind_that_ships_is_tried() -> None:
    assert list(TRIALS) == [
        name for name in perturbations.names() if perturbations[name].__module__.startswith("mcp_sim.")
    ]
    assert {kind for kind, trial in TRIALS.items() if not trial.unaffected} == HAVE_NO_OTHER


@kinds
async def test_it_is_applied_and_the_ledger_rebuilds_the_world(kind: str, tried: Try) -> None:
    simulator = tried(kind, entry(kind))
    async with simulator.open() as world:
        start = world.view
    world, steps, _ = await walked(simulator, TRIALS[kind].affected)
    assert ("applied" in outcomes(steps)) is bool(TRIALS[kind].affected)
    rebuilt = replayed(start, steps)
    assert {name: [*rebuilt.rows(name)] for name in rebuilt.entities()} == {
        name: [*world.view.rows(name)] for name in world.view.entities()
    }


@kinds
async def test_nothing_happens_where_its_trigger_does_not_hold(kind: str, tried: Try) -> None:
    made = [*TRIALS[kind].affected, *TRIALS[kind].unaffected]
    calm, expected, _ = await walked(tried(kind), made)
    for when in ("after: 900 calls", "nth: 900", "probability: 0"):
        world, steps, _ = await walked(tried(kind, entry(kind, f", when: {{{when}}}")), made)
        assert steps == expected
        assert listed(world) == listed(calm)


@pytest.mark.parametrize("kind", [kind for kind in TRIALS if kind not in HAVE_NO_OTHER])
async def test_unaffected_calls_have_no_effect_and_the_true_answer(kind: str, tried: Try) -> None:
    trial = TRIALS[kind]
    _, expected, _ = await walked(tried(kind), trial.unaffected)
    _, steps, _ = await walked(tried(kind, entry(kind, options=trial.harmless)), trial.unaffected)
    assert outcomes(steps) == ["no_effect"] * len(trial.unaffected)
    assert [{**step, "perturbations": []} for step in steps[1:]] == expected[1:]


@kinds
async def test_it_combines_with_latency_and_a_kind_that_changes_answers(kind: str, tried: Try) -> None:
    other = "drop_fields: {leave: 'null'}" if kind == "truncate" else "truncate: {characters: 1}"
    beside = ["{latency: 2s, id: slow}", f"{{{other}, id: cut}}"]
    made = [*TRIALS[kind].affected, *TRIALS[kind].unaffected]
    _, steps, delays = await walked(tried(kind, entry(kind), beside), made)
    assert ("applied" in outcomes(steps)) is bool(TRIALS[kind].affected)
    waited = [delay >= timedelta(seconds=2) for delay in delays]
    assert waited == [outcome == "applied" for outcome in outcomes(steps, "slow")]
    assert all(waited) or kind == "hide_tool"
    assert len(outcomes(steps, "cut")) == len(made)


@kinds
async def test_the_same_seed_repeats_it_and_another_differs(kind: str, tried: Try) -> None:
    made = [*TRIALS[kind].affected, *TRIALS[kind].unaffected] * 3
    assert await repeats_and_differs(tried(kind, entry(kind, f", {HALF}")), made)
