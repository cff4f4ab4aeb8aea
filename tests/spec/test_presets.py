"""Presets: how `extends` merges them, what is reported if they do not fit, and the effect of each shipped one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check, load
from mcp_sim.spec import yaml12
from mcp_sim.spec.editor_schema import preset_schema, scenario_schema
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

HEAD = "mcp_sim: 1\ntools: crm\n"
PRESETS = sorted(shipped("presets"))
CALM = shipped("scenarios")["calm_crm"]
CALLS = 120
SEED = 8

Write = Callable[..., str]
Step = dict[str, Any]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a document into the working directory and gives its name."""
    monkeypatch.chdir(tmp_path)

    def put(text: str, file: str = "x.yaml") -> str:
        Path(file).write_text(text, encoding="utf-8")
        return file

    return put


def problems_in(path: str) -> list[str]:
    return [str(problem) for problem in check([path])]


def ids(path: str) -> list[str]:
    return [entry.id for entry in load(path).perturbations]


# merging --------------------------------------------------------------------------------------------------------------


def test_presets_are_merged_in_order_and_the_scenario_comes_last(write: Write) -> None:
    name = write(f"{HEAD}extends: [paging_hell, at_least_once]\nperturbations: [{{latency: 1s, id: own}}]\n")
    assert ids(name) == ["paging", "paging-cursors", "once-lost-ack", "once-duplicate", "once-timeout", "own"]


def test_what_a_preset_and_a_scenario_do_to_each_other_is_reported(write: Write) -> None:
    faults = "perturbations: [{schema_drift: {rename: {title: name}}, id: ID, tools: create_deal}]\n"
    write("preset: x\nmcp_sim: 1\n" + faults.replace("ID", "theirs"), "drift.yaml")
    (problem,) = problems_in(write(f"{HEAD}extends: drift.yaml\n" + faults.replace("ID", "mine")))
    assert problem.startswith("x.yaml:3: extends: mine: theirs also changes the argument name of create_deal")
    write("preset: x\nmcp_sim: 1\nperturbations: [{latency: 1s, id: slow}, {lost_ack: {}, id: lost}]\n", "slow.yaml")
    assert problems_in(write(f"{HEAD}extends: slow.yaml\nperturbations: [{{error: 503, id: down}}]\n")) == [
        "x.yaml:3: warning: extends: lost never has an effect: down answers every call of these tools first"
    ]


def test_one_preset_needs_no_list(write: Write) -> None:
    assert ids(write(f"{HEAD}extends: at_least_once\n"))[0] == "once-lost-ack"


def test_an_entry_with_the_same_id_takes_the_place_of_the_earlier_one(write: Write) -> None:
    own = "perturbations:\n  - lost_ack: {message: gone}\n    id: once-lost-ack\n    tools: create_deal\n"
    found = load(write(f"{HEAD}extends: at_least_once\n{own}")).perturbations
    assert [entry.id for entry in found] == ["once-lost-ack", "once-duplicate", "once-timeout"]
    assert found[0].tools == ("create_deal",)
    assert not found[0].when.triggers


def test_a_later_preset_replaces_what_an_earlier_one_says(write: Write) -> None:
    write("mcp_sim: 1\npreset: mine\nperturbations: [{pagination: 2, id: paging}]\n", "mine.yaml")
    entry = load(write(f"{HEAD}extends: [paging_hell, mine.yaml]\n")).perturbations[0]
    assert entry.perturbation.model_dump()["duplicates"] is None


def test_an_expectation_may_name_a_fault_of_a_preset(write: Write) -> None:
    name = write(f"{HEAD}extends: at_least_once\nexpect: [{{recovered: once-lost-ack}}]\n")
    assert load(name).expectations[0].kind == "recovered"


def test_the_sum_of_a_scenario_depends_on_its_presets(write: Write) -> None:
    write("mcp_sim: 1\npreset: mine\nperturbations: [{latency: 1s, id: a}]\n", "mine.yaml")
    name = write(f"{HEAD}extends: mine.yaml\n")
    before = load(name).sha256
    write("mcp_sim: 1\npreset: mine\nperturbations: [{latency: 2s, id: a}]\n", "mine.yaml")
    assert load(name).sha256 != before


# problems -------------------------------------------------------------------------------------------------------------


def test_an_unknown_preset_is_reported_with_the_nearest_one(write: Write) -> None:
    assert problems_in(write(f"{HEAD}extends: [flaky, brownot]\n")) == [
        "x.yaml:3: extends[1]: unknown preset 'brownot'; did you mean 'brownout'?"
    ]


def test_a_file_that_is_not_there_or_no_preset_is_reported(write: Write) -> None:
    write(HEAD, "calm.yaml")
    assert problems_in(write(f"{HEAD}extends: [gone.yaml, calm.yaml]\n")) == [
        "x.yaml:3: extends[0]: file 'gone.yaml' not found in the folder of x.yaml",
        "calm.yaml:1: is not a preset: the key `preset:` with its description is missing",
    ]


def test_what_is_wrong_in_a_preset_is_reported_with_its_own_file_and_line(write: Write) -> None:
    write("mcp_sim: 1\npreset: mine\nperturbations:\n  - lost_akc: {}\n    id: a\n  - latency: 1s\n", "mine.yaml")
    expected = [
        "mine.yaml:4: perturbations[0].lost_akc: unknown perturbation 'lost_akc'; did you mean 'lost_ack'?",
        "mine.yaml:6: perturbations[1]: must have an id in a preset, so that a scenario can replace it",
    ]
    assert problems_in(write(f"{HEAD}extends: mine.yaml\n")) == expected
    assert problems_in("mine.yaml") == expected


MINE = "mcp_sim: 1\npreset: mine\nperturbations:\n  - latency: 1s\n    id: a\n  - lost_ack: {}\n    id: b\n"


def test_an_entry_that_does_not_fit_the_tools_is_left_out_with_a_warning(write: Write) -> None:
    write(f"{MINE}    tools: frobnicate\n", "mine.yaml")
    name = write(f"{HEAD}extends: mine.yaml\n")
    assert ids(name) == ["a"]
    (warning,) = check([name])
    assert warning.severity == "warning"
    assert str(warning).startswith("mine.yaml:8: warning: perturbations[1].tools: no tool matches 'frobnicate'")


def test_what_a_scenario_replaces_is_not_held_against_the_tools(write: Write) -> None:
    write(f"{MINE}    tools: frobnicate\n", "mine.yaml")
    name = write(f"{HEAD}extends: mine.yaml\nperturbations: [{{lost_ack: {{}}, id: b}}]\n")
    assert ids(name) == ["a", "b"]
    assert problems_in(name) == []


def test_a_preset_of_which_nothing_fits_is_an_error(write: Write) -> None:
    text = "mcp_sim: 1\npreset: mine\nperturbations: [{latency: 1s, id: a, tools: frobnicate}]\n"
    write(text, "mine.yaml")
    (problem,) = problems_in(write(f"{HEAD}extends: mine.yaml\n"))
    assert problem.startswith("x.yaml:3: extends: none of the faults of 'mine.yaml' fits these tools")


def test_hostile_presets_take_the_permission_of_the_scenario(write: Write) -> None:
    with pytest.raises(DocumentError, match=r"hostile_content.yaml:.*allow_adversarial"):
        load(write(f"{HEAD}extends: hostile_content\n"))
    assert "hostile-value" in ids(write(f"{HEAD}extends: hostile_content\nallow_adversarial: true\n"))


def test_the_editor_schema_knows_extends() -> None:
    for text, is_right in (("extends: flaky", True), ("extends: [flaky, x.yaml]", True), ("extends: {a: 1}", False)):
        value = yaml12.load(f"{HEAD}{text}\n".encode(), "x.yaml").value
        assert (Validator(scenario_schema()).problems(value) == ()) is is_right


def test_the_editor_schema_of_a_preset_takes_what_a_preset_may_say() -> None:
    validator = Validator(preset_schema())
    for path in shipped("presets").values():
        assert validator.problems(yaml12.load(path.read_bytes(), path.name).value) == ()
    whole = {"mcp_sim": 1, "preset": "slow", "perturbations": [{"latency": "1s", "id": "slow"}]}
    assert validator.problems(whole) == ()
    for wrong in ({"latency": "1s"}, {"latncy": "1s", "id": "a"}, {"latency": "1s", "id": "a", "when": {"nth": 0}}):
        assert validator.problems({**whole, "perturbations": [wrong]})
    assert validator.problems({**whole, "tools": "crm"})


# what ships -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_that_ships_has_no_problem_with_any_spec_that_ships(preset: str, write: Write) -> None:
    assert problems_in(str(shipped("presets")[preset])) == []
    for spec in ("crm", "chat", "files", "shop", "issue_tracker", "calendar_mail"):
        name = write(f"mcp_sim: 1\ntools: {spec}\nextends: {preset}\nallow_adversarial: true\n")
        assert not [problem for problem in check([name]) if problem.severity == "error"]


def test_the_ids_of_presets_that_ship_do_not_collide(write: Write) -> None:
    found = [ids(write(f"{HEAD}extends: {preset}\nallow_adversarial: true\n")) for preset in PRESETS]
    every = [name for names in found for name in names]
    assert len(every) == len(set(every))


def bent(preset: str) -> Scenario:
    """Return the calm CRM with the faults of a preset."""
    text = CALM.read_text(encoding="utf-8") + f"extends: {preset}\nallow_adversarial: true\n"
    Path("calm.yaml").write_text(text, encoding="utf-8")
    return load("calm.yaml")


async def under(preset: str, calls: int = CALLS, seed: int = 7) -> tuple[Simulator, World]:
    """The calm CRM under a preset, after some calls of a random agent; fewer if all its faults have acted before."""
    simulator = Simulator(bent(preset), ledger_keep=10 * CALLS)
    async with simulator.open(seed=seed) as world:
        walker = Walker([tool for server in world.scenario.servers for tool in world.catalogue(server)], seed)
        waiting = {entry.id for entry in simulator.scenario.perturbations if not rarely(entry)}
        for at in range(calls):
            if at >= CALLS and not waiting:
                break
            tool, arguments = walker.call()
            walker.learn(tool, arguments, await world.call(tool.id, arguments))
            waiting -= struck(world.ledger.newest["step"])
    return simulator, world


def calls_of(world: World) -> list[Step]:
    return [step for step in world.ledger.steps if step["entry"] == "call"]


def struck(step: Step) -> set[str]:
    return {one["id"] for one in step.get("perturbations", ()) if one["outcome"] == "applied"}


def text_of(step: Step) -> str:
    return str((step["served"] or step["truth"]["observation"]).get("result"))


def rarely(entry: PerturbationEntry) -> bool:
    """Does it take more calls than are made here, or more of one tool in a row?"""
    return entry.id in {"rate-limited-day", "rate-limited-tool", "paging-cursors"}


@pytest.mark.parametrize("preset", PRESETS)
async def test_every_fault_of_a_preset_strikes_a_calm_scenario_and_leaves_its_world_whole(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    simulator, world = await under(preset, 5 * CALLS, SEED)
    applied = set[str]().union(*map(struck, calls_of(world)))
    assert applied == {entry.id for entry in simulator.scenario.perturbations if not rarely(entry)}
    after = replayed(simulator.base(SEED), world.ledger.steps)
    assert {name: list(after.rows(name)) for name in after.entities()} == {
        name: list(world.view.rows(name)) for name in world.view.entities()
    }


def is_error(step: Step) -> bool:
    seen = step["served"] or step["truth"]["observation"]
    return bool(seen.get("is_error"))


def is_true(step: Step) -> bool:
    """Was the truth served?"""
    return step["served"] is None or {**step["served"], "delay_ms": 0} == {
        **(step["truth"] or {"observation": {}})["observation"],
        "delay_ms": 0,
    }


EFFECTS: dict[str, Callable[[Step], bool]] = {
    "flaky": lambda step: is_error(step) and step["truth"] is None and "503" in text_of(step),
    "brownout": lambda step: step["served"] is not None and step["served"].get("delay_ms", 0) > 4_000,
    "rate_limited": lambda step: "try again in" in text_of(step) and step["truth"] is None,
    "eventual_consistency": lambda step: (
        not is_error(step) and bool(step["truth"]["changes"]) and not step["committed"]
    ),
    "at_least_once": lambda step: is_error(step) and bool(step["committed"]),
    "degraded_silently": lambda step: not is_error(step) and not is_true(step),
    "explicit_faults": lambda step: is_error(step) and "409" in text_of(step),
    "mixed_faults": lambda step: not is_error(step) and not is_true(step),
    "auth_churn": lambda step: is_error(step) and "401" in text_of(step),
    "paging_hell": lambda step: not is_true(step) and len(next(iter(step["served"]["result"].values()))) <= 4,
    "hostile_content": lambda step: "attacker.example" in str(step["served"]),
    "moving_target": lambda step: is_error(step) and "409" in text_of(step),
}
"""What a call must look like, now and then, under each preset; on a calm day none does."""

CALM_CALLS = list[Step]()
"""The calls of the calm day, which is the same for all presets."""


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_preset_shows_its_effect(preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if not CALM_CALLS:
        CALM_CALLS.extend(calls_of((await under("[]"))[1]))
    _, faulty = await under(preset)
    assert not any(map(EFFECTS[preset], CALM_CALLS))
    assert any(map(EFFECTS[preset], calls_of(faulty)))


async def test_a_cursor_dies_under_paging_hell(write: Write) -> None:
    async with Simulator.load(write(f"{HEAD}extends: paging_hell\nworld: {{records: {{deal: 9}}}}\n")).open() as world:
        await world.call("list_deals", {})
        cursor = calls_of(world)[0]["served"]["result"]["next_cursor"]
        for _ in range(9):
            await world.call("list_companies", {})
        assert not (await world.call("list_deals", {"cursor": cursor})).ok
        assert "paging-cursors" in struck(calls_of(world)[-1])


async def test_a_tool_that_is_called_too_often_in_a_row_is_refused_and_let_through_after_the_given_time(
    write: Write,
) -> None:
    async with Simulator.load(write(f"{HEAD}extends: rate_limited\n")).open() as world:
        for _ in range(8):
            await world.call("list_deals", {})
        assert struck(calls_of(world)[-1]) == {"rate-limited-tool"}
        for _ in range(6):
            await world.call("list_companies", {})
        assert (await world.call("list_deals", {})).ok


async def test_what_degrades_silently_returns_no_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, world = await under("degraded_silently")
    refused = [step for step in calls_of(world) if is_error(step) and not step["truth"]["observation"].get("is_error")]
    assert all(struck(step) == {"silent-stale"} for step in refused)  # the record did not exist yet


async def test_half_the_intensity_strikes_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    simulator, world = await under("flaky")
    mild = Simulator(replace(simulator.scenario, intensity=0.5), ledger_keep=CALLS * 2)
    async with mild.open(seed=7) as milder:
        for step in calls_of(world):
            await milder.call(step["tool"], step["arguments"])
    assert sum(map(is_error, calls_of(milder))) < sum(map(is_error, calls_of(world)))
