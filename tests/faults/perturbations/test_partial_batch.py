"""partial_batch: of a batch, only some items are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.fault_specs import NO_NOTES, NOTES, Batches
from support.perturbed import HALF, calls, outcomes, repeats_and_differs, served_value, truth

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.scenario import WorldModelEntry
from mcp_sim.world.commits import replayed

FOUR = {"titles": ["a", "b", "c", "d"]}
Notes = Callable[..., Simulator]


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """Return a simulator of notes, with these options of a partial batch."""

    def simulator(options: str, rest: str = "", **model: Any) -> Simulator:
        (tmp_path / "notes.yaml").write_text(NOTES)
        path = tmp_path / "scenario.yaml"
        entry = f"{{partial_batch: {options}, id: part, tools: import_*{rest}}}"
        path.write_text(f"mcp_sim: 1\ntools: notes.yaml\n{NO_NOTES}perturbations:\n  - {entry}\n")
        return Simulator(replace(load(path), world_models=(WorldModelEntry(Batches(**model), "batches"),)))

    return simulator


async def test_dropped_items_are_not_written_and_each_is_marked_in_the_answer(notes: Notes) -> None:
    async with notes("[2, 4]").open() as world:
        first = world.view
        answer = await served_value(world, "import_notes", FOUR)
        error = "could not be processed"
        assert answer["notes"][0] == {"id": "note_001", "title": "a"}
        assert answer["notes"][1::2] == [{"item": 2, "error": error}, {"item": 4, "error": error}]
        assert [record["title"] for _, record in world.view.rows("note")] == ["a", "c"]
        assert len(truth(world)["notes"]) == 4
        assert [change["op"] for change in calls(world)[-1]["committed"]] == ["put", "put", "reserve", "reserve"]
        twin = replayed(first, world.ledger.steps)
        assert list(twin.rows("note")) == list(world.view.rows("note"))


@pytest.mark.parametrize(("how", "shown"), [("counts", {"succeeded": 3, "failed": 1}), ("nothing", None)])
async def test_it_may_be_shown_in_numbers_or_not_at_all(notes: Notes, how: str, shown: Any) -> None:
    async with notes(f"{{items: [1], report: {how}}}").open() as world:
        assert await served_value(world, "import_notes", FOUR) == (shown or truth(world))
        assert world.view.count("note") == 3


async def test_which_items_are_dropped_is_drawn_never_none_and_never_all(notes: Notes) -> None:
    for share, kept in ((0.5, 2), (0.01, 3), (0.99, 1)):
        async with notes(f"{{share: {share}}}").open() as world:
            await served_value(world, "import_notes", FOUR)
            assert world.view.count("note") == kept


async def test_it_has_no_effect_on_a_batch_of_one_and_on_what_is_no_batch(notes: Notes) -> None:
    async with notes("{}").open() as world:
        await served_value(world, "import_notes", {"titles": ["a"]})
        await served_value(world, "import_notes", {"titles": []})
        assert outcomes(world) == [["no_effect"]] * 2
        assert world.view.count("note") == 1
    async with notes("[3]").open() as world:
        await served_value(world, "import_notes", {"titles": ["a", "b"]})
        assert outcomes(world) == [["no_effect"]]


@pytest.mark.parametrize(("model", "titles"), [({"chained": True}, FOUR["titles"]), ({"same": True}, ["a"] * 4)])
async def test_it_has_no_effect_where_the_items_hang_together(
    notes: Notes, model: dict[str, bool], titles: list[str]
) -> None:
    async with notes("[1]", **model).open() as world:
        await served_value(world, "import_notes", {"titles": titles})
        assert outcomes(world) == [["no_effect"]]


async def test_the_same_seed_repeats_it_and_another_differs(notes: Notes) -> None:
    assert await repeats_and_differs(notes("{}"), [("import_notes", FOUR)], "committed")
    assert await repeats_and_differs(notes("{}", f", {HALF}"), [("import_notes", FOUR)] * 5)


def test_which_items_are_said_or_drawn(notes: Notes) -> None:
    with pytest.raises(DocumentError, match="items and share exclude each other"):
        notes("{items: [1], share: 0.5}")


def test_tools_that_only_read_are_refused_at_load(crm: Callable[[str], Simulator]) -> None:
    with pytest.raises(DocumentError, match="no tool in reach changes anything"):
        crm("perturbations: [{partial_batch: {}, tools: list_*}]")
