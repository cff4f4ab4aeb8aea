"""Scores of recorded sessions: what each column compares, its ceiling and its floor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.notebook_server import CALLS, record

from mcp_sim.recordings.columns import COLUMNS
from mcp_sim.recordings.known import data_of
from mcp_sim.recordings.responders import RecordedServer, recorded_answers
from mcp_sim.recordings.score import CallScore, Report, score_session, score_sessions
from mcp_sim.spec.sessions import Answer, RecordedCall, Session, read_sessions
from mcp_sim.types.errors import Crash


class Answers:
    """A responder with given answers. It keeps the arguments that it gets."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = iter(answers)
        self.asked: list[dict[str, Any]] = []

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        self.asked.append(arguments)
        return next(self._answers)


class Crashing:
    """A responder that cannot answer."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        raise Crash(tool, "broken")


def text(value: Any, *, is_error: bool = False) -> Answer:
    shown = value if isinstance(value, str) else json.dumps(value)
    return {"result": {"content": [{"type": "text", "text": shown}], "isError": is_error}}


def session(*calls: tuple[str, dict[str, Any], Answer], state: dict[str, Any] | None = None) -> Session:
    recorded = [RecordedCall(tool, given, answer, at, {}) for at, (tool, given, answer) in enumerate(calls, 1)]
    return Session("notes", "first", Path("first.jsonl"), [], state or {}, recorded, {})


def columns(scores: Sequence[CallScore]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in Report(scores).overall.columns.items()}


NO_ARGUMENTS = dict[str, Any]()
ADD = ("add_note", {"title": "Milk"}, text({"id": "note-1", "title": "Milk", "created_at": "2030-01-01T09:00:00Z"}))
GET = ("get_note", {"id": "note-1"}, text({"id": "note-1", "title": "Milk", "created_at": "2030-01-01T09:00:00Z"}))
LIST = ("list_notes", NO_ARGUMENTS, text({"notes": [{"id": "note-1", "title": "Milk"}]}))
DELETE = ("delete_note", {"id": "note-1"}, text("Deleted note note-1"))
NONE_LEFT = ("list_notes", NO_ARGUMENTS, text({"notes": []}))
LOST = ("get_note", {"id": "note-1"}, text("Note note-1 not found", is_error=True))
WHOLE = session(ADD, GET, LIST, DELETE, NONE_LEFT, LOST)
EVERY = {column.name for column in COLUMNS} - {"leaks"}  # it needs other recorded worlds


async def test_the_recorded_answers_of_a_real_server_score_one_in_every_column(tmp_path: Path) -> None:
    await record(tmp_path, "first", CALLS)
    [recorded] = read_sessions(tmp_path)
    report = Report(await score_sessions(recorded_answers([recorded]), [recorded]))
    assert report.overall.columns == dict.fromkeys(EVERY, 1.0)
    assert report.score == 1.0


async def test_a_text_with_a_new_id_has_the_structure_of_itself() -> None:
    made = ("commit", {"message": "Add a sensor"}, text("Committed 8ea32fc9d6f980de48e840767051b755f7fac657 to main"))
    scores = await score_session(session(made), Answers([made[2]]))
    assert columns(scores)["structure"] == 1


async def test_a_second_run_with_other_ids_and_times_scores_one_and_is_asked_for_its_own_ids() -> None:
    again = [json.loads(json.dumps(call.answer).replace("note-1", "n_77").replace("09:00", "11:42"))
             for call in WHOLE.calls]  # fmt: skip
    responder = Answers(again)
    assert columns(await score_session(WHOLE, responder)) == dict.fromkeys(EVERY, 1.0)
    assert responder.asked[1] == responder.asked[3] == {"id": "n_77"}


async def test_an_id_with_a_prefix_and_a_hash_is_one_also_in_a_text() -> None:
    made, read = text("Opened room_e69ec7e3"), text({"id": "room_e69ec7e3", "name": "Den"})
    recorded = session(("open", {"name": "Den"}, made), ("get", {"room": "room_e69ec7e3"}, read))
    responder = Answers([text("Opened room_00001"), text({"id": "room_00001", "name": "Den"})])
    assert columns(await score_session(recorded, responder))["structure"] == 1
    assert responder.asked[1] == {"room": "room_00001"}


async def test_empty_successes_score_zero_but_for_calls_that_succeeded() -> None:
    nothing: Answer = {"result": {"content": []}}
    empty = Answers([nothing] * 6)
    nothing_shown = {**dict.fromkeys(EVERY - {"follows"}, 0.0), "outcome": 0.5}  # what was never shown cannot change
    assert columns(await score_session(WHOLE, empty)) == nothing_shown


async def test_a_crash_scores_zero_in_every_column_and_is_reported() -> None:
    report = Report(await score_session(WHOLE, Crashing()))
    assert set(report.overall.columns.values()) == {0.0}
    assert {call.crash for call in report.crashes} == {f"{call.tool}: broken" for call in WHOLE.calls}


CASES: dict[str, tuple[str, Session, list[Answer], float]] = {
    "failures count for as much as successes": (
        "outcome",
        session(GET, GET, GET, LOST),
        [text("x")] * 4,
        0.5,
    ),
    "a text that reports a failure is a failure": (
        "outcome",
        session(LOST),
        [text("Error: no such note")],
        1.0,
    ),
    "fields and their types count, values do not": (
        "structure",
        session(("get", {}, text({"id": 1, "tags": ["a", "b"], "open": True}))),
        [text({"id": 2, "tags": ["c"], "open": "yes"})],
        0.75,
    ),
    "a text is compared by its words, not by its known values, numbers and times": (
        "structure",
        session(("add", {"title": "Milk"}, text("Added Milk as 17 at 2030-01-01 09:00"))),
        [text("Added Milk as 4 at 2029-05-05 11:30")],
        1.0,
    ),
    "values that the session knows must be shown, and no others of them": (
        "echo",
        session(("get", {"id": "n1"}, text({"id": "n1", "owner": "Ada"})), state={"people": ["Ada", "Bob"]}),
        [text({"id": "n1", "owner": "Bob"})],
        0.5,
    ),
    "an argument of an earlier call must be shown by later ones": (
        "read_your_writes",
        session(
            ("add", {"title": "Milk", "text": "Two litres"}, text("Added")),
            ("get", {"id": "1"}, text(["Milk", "Two litres"])),
        ),
        [text("Added"), text(["Milk"])],
        0.5,
    ),
    "what the same call showed before must be gone": (
        "gone",
        session(ADD, LIST, DELETE, NONE_LEFT),
        [call.answer for call in session(ADD, LIST, DELETE, LIST).calls],
        0.0,
    ),
    "a flag is no number": ("exact", session(("get", {}, text([True]))), [text([1])], 0.0),
    "the layout of JSON counts": ("exact", session(("get", {}, text('{"a": 1.0}'))), [text('{ "a":1 }')], 0.0),
    "the spaces of a text count": ("text", session(("get", {}, text("a  b"))), [text("a b")], 0.5),
    "the order of fields counts": ("text", session(("get", {}, text('{"a":1,"b":2}'))), [text('{"b":2,"a":1}')], 0.8),
    "the values of JSON do not count in its text": (
        "text",
        session(("get", {}, text('{"a": 1, "b": "x"}'))),
        [text('{"a": 12, "b": "some words"}')],
        1.0,
    ),
    "text and structured content are compared": (
        "exact",
        session(("get", {}, {"result": {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"a": 1}}})),
        [{"result": {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"a": 1}}}],
        0.0,
    ),
    "a value of a known record stays what the simulation showed": (
        "follows",
        session(
            *[("get", {"id": "n-1"}, text({"id": "n-1", "price": 12, "stock": 3}))] * 2,
            ("get", {"id": "n-1"}, text({"id": "n-1", "price": 12, "stock": 4})),
        ),
        [text({"id": "n-1", "price": price, "stock": 7}) for price in (80, 80, 81)],
        0.667,
    ),
    "an answer that is the same for differing calls is no behaviour": (
        "echo",
        session(*[("get", {"id": name}, text({"id": name, "rows": count})) for name, count in (("a1", 3), ("b2", 5))]),
        [text({"id": "a1", "rows": 1})] * 2,
        0.0,
    ),
    "an answer may be the same where the recorded ones differ in what their calls gave": (
        "outcome",
        session(*[("add", {"title": name}, text(f"Added {name}")) for name in ("Milk", "Bread")]),
        [text("Added")] * 2,
        1.0,
    ),
    "the number and types of blocks count": (
        "exact",
        session(("get", {}, text("a"))),
        [{"result": {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": ""}]}}],
        0.0,
    ),
    "an error is no result of the same text": ("exact", session(LOST), [text("Note note-1 not found")], 0.0),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_column_compares(case: str) -> None:
    column, recorded, answers, expected = CASES[case]
    assert columns(await score_session(recorded, Answers(answers)))[column] == expected


async def test_the_overall_score_is_the_lower_of_form_and_behaviour() -> None:
    calls = [("get", {"id": name}, text({"id": name, "rows": rows})) for name, rows in (("a1", 3), ("b2", 5))]
    worded = Report(await score_session(session(*calls), Answers([text("a1: 3"), text("b2: 5")]))).overall
    assert worded.score == worded.form == pytest.approx(0.065, abs=0.1)
    assert worded.behaviour == 1.0
    constant = Report(await score_session(session(*calls), Answers([text({"id": "a1", "rows": 3})] * 2))).overall
    assert constant.score == constant.behaviour == 0.0 < (constant.form or 0)
    same = [("chain", {"id": name}, text({"chain": [1, 2]})) for name in (1, 2)]
    assert Report(await score_session(session(*same), Answers([same[0][2]] * 2))).overall.score == 1.0


async def test_a_refusal_of_all_calls_is_right_where_the_real_server_refuses_too() -> None:
    calls = [("get", {"id": name}, text({"id": name, "rows": rows})) for name, rows in (("a1", 3), ("b2", 5))]
    lost, refusals = ("get", {"id": "c3"}, text("Not found", is_error=True)), ("Not found", "{} not found")
    answers = [[text(refusal.format(name), is_error=True) for name in ("a1", "b2", "c3")] for refusal in refusals]
    scores = [columns(await score_session(session(*calls, lost), Answers(served))) for served in answers]
    assert [score["outcome"] for score in scores] == [0.5, 0.5]


async def test_values_of_other_recorded_worlds_are_leaks() -> None:
    other = session(("get", {"id": "1"}, text("Ada Lovelace")), state={"people": ["Ada Lovelace", "Grace Hopper"]})
    here = session(("get", {"id": "1"}, text("Ada Lovelace")), state={"people": ["Ada Lovelace"]})
    data = data_of([other, here])
    shown = [text("Ada Lovelace"), text("Grace Hopper")]
    assert [columns(await score_session(here, Answers([answer]), data))["leaks"] for answer in shown] == [1.0, 0.0]


async def test_a_call_that_differs_says_why() -> None:
    scores = await score_session(session(ADD, LIST), Answers([text({"id": "n_1", "title": "Milk"}), text("none")]))
    assert scores[0].reasons["structure"] == ["missing: $.created_at: string"]
    assert scores[1].reasons == {
        "structure": ["missing: $.notes[], $.notes[].id: string, $.notes[].title: string, $.notes[]{}"],
        "text": ["the text is laid out or worded differently"],
        "follows": ["n_1.title: showed 'Milk' before, now None"],
        "echo": ["not shown: 'n_1', 'Milk'"],
        "read_your_writes": ["not shown: 'Milk', written by call 1"],
        "exact": ['$: recorded {"notes": [{"id": "n_1", "title": "Milk"}]}, answered "none"'],
    }


async def test_a_recorded_server_refuses_other_calls() -> None:
    with pytest.raises(Crash, match="the recording has add_note here"):
        await RecordedServer(WHOLE.calls).call("get_note", {})


LONG: dict[str, Any] = {
    "days of the week": "Mon" * 120_000,
    "dates with comments that do not end": "Mon, Jan 1 12:00 (" * 30_000,
    "many rows": [{"id": f"row-{number}"} for number in range(6_000)],
}


@pytest.mark.time_limit(40)
@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
async def test_the_time_of_a_score_does_not_grow_with_the_square_of_an_answer(value: Any) -> None:
    recorded = session(("export", NO_ARGUMENTS, text(value)))
    other = json.loads(json.dumps(value).replace("1", "2"))
    assert columns(await score_session(recorded, Answers([text(other)])))["outcome"] == 1
