"""`recovered` for tools that add to a field: it counts how often the field changed, by the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.types.grades import GradedVerdict
from mcp_sim.world.trace import step_from_json

Calls = list[tuple[str, dict[str, Any]]]

SHOP = """\
mcp_sim: 1
name: shop
tools:
  - name: adjust_stock
    inputSchema: {type: object, properties: {sku: {type: string}, delta: {type: integer}, reason: {type: string}}}
  - name: set_stock
    inputSchema: {type: object, properties: {sku: {type: string}, quantity: {type: integer}}}
  - name: take
    inputSchema: {type: object, properties: {sku: {type: string}, n: {type: integer}}}
  - {name: add_tag, inputSchema: {type: object, properties: {sku: {type: string}, tag: {type: string}}}}
  - {name: remove_tag, inputSchema: {type: object, properties: {sku: {type: string}, tag: {type: string}}}}
  - {name: add_batch, inputSchema: {type: object, properties: {sku: {type: string}, size: {type: integer}}}}
  - {name: add_note, inputSchema: {type: object, properties: {sku: {type: string}, note: {type: string}}}}
  - name: adjust_all
    inputSchema: &moves
      type: object
      properties:
        moves:
          type: array
          items: {type: object, properties: {sku: {type: string}, delta: {type: integer}, name: {type: string}}}
  - {name: name_all, inputSchema: *moves}
  - {name: create_all, inputSchema: *moves}
  - name: manage
    inputSchema:
      type: object
      properties: {op: {enum: [more, less]}, sku: {type: string}, n: {type: integer}}
  - {name: set_limit, inputSchema: {type: object, properties: {limit: {type: integer}}}}
  - {name: raise_limit, inputSchema: {type: object, properties: {by: {type: integer}}}}
entities:
  settings: {singleton: true, fields: {limit: {type: integer}}}
  item:
    key: sku
    fields:
      quantity: {type: integer}
      tags: {type: array, items: {type: string}}
      batches: {type: array, items: {type: integer}}
      notes: {type: string}
      name: {type: string}
sim:
  set_limit: {verb: update, entity: settings, key: null, sets: {limit: limit}}
  raise_limit: {verb: update, entity: settings, key: null, sets: {by: limit}, how: {limit: add}}
  adjust_all:
    {verb: update, entity: item, each: moves, key: moves.sku, sets: {moves.delta: quantity}, how: {quantity: add}}
  name_all: {verb: update, entity: item, each: moves, key: moves.sku, sets: {moves.name: name}}
  create_all: {verb: create, entity: item, each: moves, sets: {moves.sku: sku, moves.name: name}}
  manage:
    choice: op
    choices:
      more: {verb: update, entity: item, key: sku, sets: {n: quantity}, how: {quantity: add}}
      less: {verb: update, entity: item, key: sku, sets: {n: quantity}, how: {quantity: subtract}}
  adjust_stock: {verb: update, entity: item, key: sku, sets: {delta: quantity}, how: {quantity: add}}
  set_stock: {verb: update, entity: item, key: sku, sets: {quantity: quantity}}
  take: {verb: update, entity: item, key: sku, sets: {n: quantity}, how: {quantity: subtract}}
  add_tag: {verb: update, entity: item, key: sku, sets: {tag: tags}, how: {tags: append}}
  remove_tag: {verb: update, entity: item, key: sku, sets: {tag: tags}, how: {tags: remove}}
  add_batch: {verb: update, entity: item, key: sku, sets: {size: batches}, how: {batches: append}}
  add_note: {verb: update, entity: item, key: sku, sets: {note: notes}, how: {notes: append}}
"""

LOST, DOWN = "{lost_ack: {}, id: fault, when: {nth: 1}}", "{error: 503, id: fault, when: {nth: 1}}"
EVERY = "{lost_ack: {}, id: fault}"

A = {"sku": "A-1"}
TAKE_3, GIVE_3 = ("adjust_stock", {**A, "delta": -3}), ("adjust_stock", {**A, "delta": 3})
TAKE_5 = ("adjust_stock", {**A, "delta": -5})
AGAIN = ("adjust_stock", {**A, "delta": -3, "reason": "once more"})
SELL_3 = ("take", {**A, "n": 3})
TAG, OLD_TAG, NO_TAG = (
    ("add_tag", {**A, "tag": "late"}),
    ("add_tag", {**A, "tag": "new"}),
    ("remove_tag", {**A, "tag": "new"}),
)
BATCH, NOTE = ("add_batch", {**A, "size": 12}), ("add_note", {**A, "note": "Count it."})


def shop(tmp_path: Path, fault: str, quantity: int = 10) -> Simulator:
    (tmp_path / "shop.yaml").write_text(SHOP, encoding="utf-8")
    row = f"{{sku: A-1, quantity: {quantity}, tags: [new], batches: [12], notes: Old.}}"
    world = f"world: {{records: {{item: {{rows: [{row}, {{sku: A-2, quantity: 1}}]}}}}}}\n"
    ending = f"{world}perturbations: [{fault}]\nexpect: [{{recovered: fault}}]\n"
    path = tmp_path / "scenario.yaml"
    path.write_text(f"mcp_sim: 1\ntools: shop.yaml\n{ending}", encoding="utf-8")
    return Simulator.load(path)


async def verdict(simulator: Simulator, calls: Calls) -> GradedVerdict:
    """Return the verdict on a run, which must be that on its ledger, too."""
    async with simulator.open() as world:
        for tool, arguments in calls:
            await world.call(tool, arguments)
        found = world.grade()
        steps = [step_from_json(step) for step in world.ledger.steps]
        assert simulator.repeated("again", steps).grade() == found
        return found.verdicts[0]


ONCE = "1 faulted call, recovered exactly once"
TWICE = "step 2 (adjust_stock): quantity of item A-1 changed by -3 twice, by steps 2 and 3; expected once"
NEVER = "step 2 (adjust_stock): quantity of item A-1 never changed by -3; it is "


@pytest.mark.parametrize(
    ("fault", "calls", "because"),
    [
        (LOST, [TAKE_3], ONCE),
        (LOST, [TAKE_3, TAKE_3], TWICE),
        (LOST, [TAKE_3, AGAIN], TWICE),
        (LOST, [TAKE_3, TAKE_3, GIVE_3], ONCE),
        (LOST, [TAKE_3, TAKE_3, ("set_stock", {**A, "quantity": 7})], ONCE),
        (LOST, [TAKE_3, TAKE_5], ONCE),
        (LOST, [TAKE_3, SELL_3], ONCE),
        (DOWN, [TAKE_3], f"{NEVER}10"),
        (DOWN, [TAKE_3, TAKE_5], f"{NEVER}5"),
        (DOWN, [TAKE_3, TAKE_3], ONCE),
        (DOWN, [TAKE_3, TAKE_3, TAKE_3], TWICE.replace("2 and 3", "3 and 4")),
        (DOWN, [TAKE_3, SELL_3], ONCE),
        (DOWN, [TAKE_3, ("set_stock", {**A, "quantity": 7})], ONCE),
        (DOWN, [("adjust_stock", {**A, "delta": -11})] * 2, ONCE),  # the world refuses it
        (EVERY, [TAKE_3, AGAIN], "2 faulted calls, each recovered exactly once"),
        (LOST, [SELL_3, SELL_3],
         "step 2 (take): quantity of item A-1 changed by -3 twice, by steps 2 and 3; expected once"),
        (LOST, [TAG], ONCE),
        (LOST, [TAG, TAG], ONCE),  # a name occurs once
        (DOWN, [TAG], 'step 2 (add_tag): tags of item A-1 never got "late"; it is ["new"]'),
        (DOWN, [OLD_TAG], ONCE),  # it was there before
        (LOST, [NO_TAG], ONCE),
        (DOWN, [NO_TAG], 'step 2 (remove_tag): tags of item A-1 never lost "new"; it is ["new"]'),
        (LOST, [BATCH], ONCE),
        (LOST, [BATCH, BATCH], "step 2 (add_batch): batches of item A-1 got 12 twice, by steps 2 and 3; expected once"),
        (DOWN, [BATCH], "step 2 (add_batch): batches of item A-1 never got 12; it is [12]"),
        (LOST, [NOTE], ONCE),
        (LOST, [NOTE, NOTE],
         'step 2 (add_note): notes of item A-1 got "\\nCount it." added twice, by steps 2 and 3; expected once'),
    ],
)  # fmt: skip
async def test_a_relative_change_must_take_effect_exactly_once(
    tmp_path: Path, fault: str, calls: Calls, because: str
) -> None:
    judged = await verdict(shop(tmp_path, fault), calls)
    assert (judged.because, judged.outcome) == (
        because,
        "passed" if because.endswith("recovered exactly once") else "failed",
    )


async def test_a_sum_that_equals_the_argument_is_no_proof(tmp_path: Path) -> None:
    judged = await verdict(shop(tmp_path, LOST, quantity=0), [GIVE_3, GIVE_3])
    assert judged.outcome == "failed"
    assert (
        judged.because
        == "step 2 (adjust_stock): quantity of item A-1 changed by 3 twice, by steps 2 and 3; expected once"
    )


async def test_records_before_the_fault_are_those_that_earlier_calls_wrote(tmp_path: Path) -> None:
    third = LOST.replace("nth: 1", "nth: 3")
    judged = await verdict(shop(tmp_path, third), [TAKE_3, ("set_stock", {**A, "quantity": 6}), TAKE_3])
    assert (judged.outcome, judged.because) == ("passed", ONCE)
    assert judged.steps == (4,)


ALL = ("adjust_all", {"moves": [{"sku": "A-1", "delta": 2}, {"sku": "A-2", "delta": 1}]})
NAME_ALL = ("name_all", {"moves": [{"sku": "A-1", "name": "Bell"}, {"sku": "A-2", "name": "Horn"}]})
CREATE_ALL = ("create_all", {"moves": [{"sku": "A-3", "name": "Bell"}, {"sku": "A-4", "name": "Horn"}]})
LESS = ("manage", {**A, "op": "less", "n": 2})


@pytest.mark.parametrize(
    ("fault", "calls", "because"),
    [
        (LOST, [ALL], ONCE),
        (LOST, [ALL, ("adjust_all", {"moves": ALL[1]["moves"][:1]})],
         "step 2 (adjust_all): quantity of item A-1 changed by 2 twice, by steps 2 and 3; expected once"),
        (LOST, [NAME_ALL, NAME_ALL], ONCE),
        (DOWN, [NAME_ALL, ("name_all", {"moves": NAME_ALL[1]["moves"][:1]})],
         'step 2 (name_all): name of item A-2 is missing, expected "Horn"'),
        (LOST, [CREATE_ALL], ONCE),
        (DOWN, [CREATE_ALL, CREATE_ALL], ONCE),
        (LOST, [("set_limit", {"limit": 9000})] * 2, ONCE),
        (DOWN, [("set_limit", {"limit": 9000})], "step 2 (set_limit): limit of settings is 1, expected 9000"),
        (LOST, [("raise_limit", {"by": 2})], ONCE),
        (LOST, [("raise_limit", {"by": 2})] * 2,
         "step 2 (raise_limit): limit of settings changed by 2 twice, by steps 2 and 3; expected once"),
        (LOST, [LESS], ONCE),
        (LOST, [LESS, LESS],
         "step 2 (manage): quantity of item A-1 changed by -2 twice, by steps 2 and 3; expected once"),
    ],
)  # fmt: skip
async def test_a_batch_has_a_goal_for_each_item_and_choices_and_singletons_have_one(
    tmp_path: Path, fault: str, calls: Calls, because: str
) -> None:
    judged = await verdict(shop(tmp_path, fault), calls)
    assert judged.because == because
