"""Where the plan of a tool is a guess: the model says everything, and the world holds it to what is true."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.checker import judged
from support.desk import OPEN, Desk, desk_in, fenced, measured, value
from support.endpoint import saying, serving
from support.long_walks import plans_json
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.generate.values import inventor
from mcp_sim.models.language_model.absorption import Absorption, RecordNames
from mcp_sim.simulator.compile import load
from mcp_sim.types import Call, ToolResult

Json = Any


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


async def test_where_the_plan_is_a_guess_the_model_says_everything(desk: Desk) -> None:
    sunny = {"outlook": "Zonnig", "degrees": 21}
    async with serving(saying(json.dumps(sunny))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("forecast", {"city": "Ghent"})) == sunny
        (asked,) = engine.asked
        assert asked.schema is not None
        observation, refusal = asked.schema["anyOf"]
        assert set(observation["properties"]) == {"outlook", "degrees"}
        assert set(refusal["properties"]) == {"isError", "text"}
        step = world.ledger.steps[-1]
        assert (step["guessed"], step["committed"]) == (True, [])


async def test_a_tool_without_output_schema_is_answered_in_text_or_json(desk: Desk) -> None:
    tagged = "<predicted_observation>no</predicted_observation> <predicted_observation>yes</predicted_observation>"
    async with serving(saying(tagged, '```json\n{"a": [1]}\n```')) as engine, desk(engine.url).open() as world:
        text, parsed = [(await world.call("explain", {"topic": topic})).body for topic in ("a", "b")]
    assert text == ToolResult("yes", form="text")
    assert parsed == ToolResult({"a": [1]}, form="json")
    assert len(engine.asked) == 2


# held to the world ----------------------------------------------------------------------------------------------------


def unsure(simulator: Simulator) -> Simulator:
    """The same scenario, where every plan is a guess."""
    scenario = simulator.scenario
    plans = {name: plan.with_effect(0.3) for name, plan in scenario.domain.plans.items()}
    return Simulator(replace(scenario, domain=replace(scenario.domain, plans=plans)))


def ticket(key: str, **fields: Json) -> Json:
    return {"id": key, "title": "Bell", "summary": "It rings.", "effort": 2, "customer_id": "nobody", **fields}


async def test_what_a_model_says_of_a_record_that_the_world_has_is_shown_as_the_world_has_it(desk: Desk) -> None:
    async with serving(saying(json.dumps(ticket("ticket_00002")))) as engine, unsure(desk(engine.url)).open() as world:
        stored = world.view.get("ticket", "ticket_00001")
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == stored
        assert {"id", "title", "customer_id"} <= {*measured(world)["repaired"]}
        step = world.ledger.newest["step"]
        assert (step["guessed"], step["committed"], step["absorbed"]) == (True, [], [])
        assert fenced(engine.asked[0].question)[1]["likely"] == stored
        for key, record in world.view.rows("ticket"):
            assert value(await world.call("get_ticket", {"ticket_id": key})) == record


async def test_rows_that_do_not_exist_are_not_shown_and_the_total_is_that_of_the_rows(desk: Desk) -> None:
    rows = [ticket("ticket_00001"), ticket("ticket_08888")]
    answers = saying(json.dumps({"tickets": rows, "total": 70}))
    async with serving(answers) as engine, unsure(desk(engine.url)).open() as world:
        shown = value(await world.call("list_tickets"))
        assert shown == {"tickets": [world.view.get("ticket", "ticket_00001")], "total": 1}


async def test_what_a_guessed_create_says_is_written_under_an_id_of_the_world_and_held_to(desk: Desk) -> None:
    predicted = ticket("T-77", title="Mine", effort=9)
    async with serving(saying(json.dumps(predicted))) as engine, unsure(desk(engine.url)).open() as world:
        made = value(await world.call("create_ticket", {"title": "Slipping chain"}))
        assert (made["id"], made["title"], made["effort"], made["summary"]) == (
            "ticket_00003",
            "Slipping chain",
            9,
            "It rings.",
        )
        assert world.view.get("customer", made["customer_id"]) is not None
        assert world.view.get("ticket", "ticket_00003") == made
        engine.respond = saying(json.dumps(ticket("ticket_00003", effort=1)))
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00003"})) == made


async def test_a_record_that_a_closed_world_does_not_have_is_not_found_whatever_the_model_says(desk: Desk) -> None:
    async with serving(saying(json.dumps(ticket("ticket_07777")))) as engine, unsure(desk(engine.url)).open() as world:
        assert not (await world.call("get_ticket", {"ticket_id": "ticket_07777"})).ok
        assert measured(world)["differs"] is True
        assert world.view.count("ticket") == 2


async def test_in_an_open_world_what_a_model_shows_of_a_new_record_is_pinned(tmp_path: Path) -> None:
    open_desk = desk_in(tmp_path, {"open": True})
    rows = [ticket("ticket_00001"), ticket("ticket_08888", customer_id="cus")]
    answers = saying(json.dumps({"tickets": rows, "total": 2}), json.dumps(ticket("ticket_08888", title="Other")))
    async with serving(answers) as engine, unsure(open_desk(engine.url)).open() as world:
        shown = value(await world.call("list_tickets"))["tickets"][1]
        assert (shown["title"], shown["summary"]) == ("Bell", "It rings.")
        (pin,) = world.ledger.newest["step"]["absorbed"]
        assert pin["record"] == world.view.get("ticket", "ticket_08888")
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_08888"})) == shown


async def test_in_an_open_world_a_model_generates_the_record_that_a_sure_plan_asks_for(tmp_path: Path) -> None:
    async with (
        serving(saying(json.dumps({"title": "Bell", **OPEN}))) as engine,
        desk_in(tmp_path, {"open": True})(engine.url).open() as world,
    ):
        made = value(await world.call("get_ticket", {"ticket_id": "ticket_08888"}))
        assert (made["id"], made["title"], made["effort"]) == ("ticket_08888", "Bell", 3)
        assert engine.asked[0].schema is not None
        assert set(engine.asked[0].schema["properties"]) == {"title", "summary", "effort"}
        (pin,) = world.ledger.newest["step"]["absorbed"]
        assert pin["record"] == made
        engine.respond = saying(json.dumps({"title": "Other", **OPEN}))
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_08888"})) == made


async def test_the_same_question_has_the_same_answer_until_something_changes(desk: Desk) -> None:
    answers = saying("Round.", "Square.", json.dumps(OPEN), "Oval.")
    async with serving(answers) as engine, desk(engine.url).open() as world:
        first = value(await world.call("explain", {"topic": "wheels"}))
        assert (first, value(await world.call("explain", {"topic": "wheels"}))) == ("Round.", "Round.")
        assert (len(engine.asked), measured(world)["differs"]) == (2, True)
        assert value(await world.call("create_ticket", {"title": "one"}))["effort"] == 3
        assert value(await world.call("explain", {"topic": "wheels"})) == "Oval."


async def test_a_link_in_the_answer_of_a_tool_that_no_plan_explains_leads_to_a_record_that_exists(
    desk: Desk,
) -> None:
    answers = saying(json.dumps({"advice": "Ask them.", "customer_id": "C-999", "tickets": [ticket("none")]}))
    async with serving(answers) as engine, desk(engine.url).open() as world:
        shown = value(await world.call("explain", {"topic": "debts"}))
        assert (shown["advice"], shown["tickets"]) == ("Ask them.", [])
        assert world.view.get("customer", shown["customer_id"]) is not None
        assert measured(world)["repaired"] == ["customer_id", "tickets.0"]


async def test_ids_in_a_text_are_those_of_records_that_exist() -> None:
    async with Simulator.load("calm_crm").open() as world:
        domain = world.scenario.domain
        turn = world.turn(Call("get_contact", {}), domain.tools["get_contact"])
        absorption = Absorption(RecordNames.of(domain), turn, turn.view, inventor(domain), {})
        text = absorption.resolve("con_00001 knows con_98765, not con_987654x.", (), None)
        known, _, rest = text.partition(" knows ")
        assert known == "con_00001"
        assert world.view.get("contact", rest.partition(",")[0]) is not None
        assert rest.endswith(", not con_987654x.")


async def test_random_tokens_where_every_plan_is_a_guess_make_no_answer_that_is_invalid_or_untrue() -> None:
    async with serving() as engine:
        scenario = load("calm_crm", world_model=f"openai:tiny@{engine.url}")
        async with unsure(Simulator(scenario)).open() as world:
            walker = Walker([*scenario.domain.tools.values()], 3)
            for _ in range(60):
                tool, arguments = walker.call()
                observation = await world.call(tool.id, arguments)
                walker.learn(tool, arguments, observation)
                if observation.ok and tool.output_schema is not None and isinstance(observation.body, ToolResult):
                    judge: Any = Draft202012Validator(tool.output_schema)
                    judge.validate(observation.body.value)
            report = judged(world.ledger, plans_json(scenario.domain))
            assert not [one for one in report.violations if one.rule in ("R1", "R2", "R4", "R5")]
