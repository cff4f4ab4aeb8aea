"""`mcp-sim eval agentworld`: a small data set in the benchmark's format, a model and a judge over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync
from starlette.responses import JSONResponse, Response
from support.endpoint import Asked, Respond, completion, serving

from mcp_sim.cli import main
from mcp_sim.models.evaluation.messages import DIMENSIONS, guidance
from mcp_sim.models.evaluation.runner import Outcome, summarize

Json = Any
DOMAINS = ("mcp", "search", "terminal", "swe", "android", "web", "os")
HEADING = "**Environment Observation:**\n"


def action(turn: int, what: str) -> str:
    return f'### Turn {turn}\n**Action:**\n```json\n{{"name": "run", "arguments": {{"what": "{what}"}}}}\n```'


def line(domain: str, number: int, turn: int, turns: int = 3) -> Json:
    """Return a sample in the benchmark's form: the whole conversation, and the number of the turn to predict."""
    prompts = [action(n, f"{domain} {number}.{n}") for n in range(1, turns + 1)]
    return {
        "task": f"agentworld/{domain}" if domain == "swe" else domain,
        "id": 1000 + number,
        "prompt": prompts,
        "response": [f"{HEADING}seen {domain} {number}.{n}" for n in range(1, turns + 1)],
        "current_prompt": prompts[turn - 1],
        "system_str": f"You are the {domain} world.",
        "turn_idx": turn,
        "total_turns": turns,
    }


def data_set(folder: Path, *lines: Json) -> Path:
    """Return a folder with a file per domain; without lines, it has two samples of each domain."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in lines or [line(domain, n, n) for domain in DOMAINS for n in (1, 3)]:
        with (folder / f"{one['task'].rpartition('/')[2]}_test.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(one) + "\n")
    return folder


def scores(*given: int) -> str:
    return json.dumps({"reasoning": "compared", "scores": dict(zip(DIMENSIONS, given, strict=True))})


def both(prediction: str = "seen it", verdict: str = "") -> Respond:
    """Reply as both the world model and the judge."""

    async def respond(asked: Asked) -> Response:
        return completion(prediction if asked.schema is None else verdict or scores(5, 4, 3, 2, 1))

    return respond


async def evaluate(url: str, data: Path, *options: str, judge: bool = True) -> int:
    """Run the command, its results beside the data."""
    judging = ["--judge", f"openai:tiny@{url}"] if judge else []
    out = ["--output", str(data / "out")]
    return await run_sync(
        main, ["eval", "agentworld", str(data), "--model", f"openai:tiny@{url}", *judging, *out, *options]
    )


async def report(url: str, data: Path, capsys: pytest.CaptureFixture[str], *options: str, expected: int = 0) -> Json:
    assert await evaluate(url, data, "--json", *options) == expected
    return json.loads(capsys.readouterr().out)


async def test_every_domain_is_foretold_judged_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_set(tmp_path)
    async with serving(both()) as engine:
        shown = await report(engine.url, data, capsys)
    assert set(shown["domains"]) == set(DOMAINS)
    wanted = {"format": 100.0, "factuality": 75.0, "consistency": 50.0, "realism": 25.0, "quality": 0.0}
    for one in (*shown["domains"].values(), shown["overall"]):
        assert (one["scores"], one["total"]) == (wanted, 50.0)
        assert one["failed"] == {"prediction": 0, "judging": 0}
    assert (shown["overall"]["samples"], shown["overall"]["scored"]) == (14, 14)


@pytest.mark.parametrize("more", [{}, {"current_prompt": ""}, {"prompt": [action(1, "mcp 1.1"), "not this"]}])
async def test_a_turn_is_asked_for_after_the_real_turns_before_it_and_none_that_come_later(
    more: Json, tmp_path: Path
) -> None:
    data = data_set(tmp_path, line("mcp", 1, 2) | more)
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data) == 0
    asked, judged = (one.body for one in engine.asked)
    assert asked["messages"] == [
        {"role": "system", "content": "You are the mcp world."},
        {"role": "user", "content": action(1, "mcp 1.1")},
        {"role": "assistant", "content": f"{HEADING}seen mcp 1.1"},
        {"role": "user", "content": action(2, "mcp 1.2")},
    ]
    assert asked["temperature"] == 0.6
    question = judged["messages"][1]["content"]
    assert judged["messages"][0]["content"] == guidance("mcp")
    assert "# Prediction\n\n```\nseen it\n```" in question
    assert "# Real observation\n\n```\nseen mcp 1.2\n```" in question
    assert "seen mcp 1.1" in question
    assert "mcp 1.3" not in json.dumps([asked, judged])


async def test_what_is_done_is_not_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_set(tmp_path)
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data, "--limit", "1") == 0
        assert len(engine.asked) == 2 * 7
        assert await evaluate(engine.url, data) == 0
        assert len(engine.asked) == 2 * 14
        capsys.readouterr()
        first = await report(engine.url, data, capsys)
        assert len(engine.asked) == 2 * 14
    assert await report(engine.url, data, capsys) == first  # the endpoint is gone, and not asked


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (completion(""), "the observation is empty"),
        (completion("<predicted_observation> </predicted_observation>"), "the observation is empty"),
        (completion("so far", "length"), "cut off"),
        (completion("<think>endless"), "a thought that never ends"),
        (JSONResponse({"error": {"message": "no such thing"}}, status_code=404), "no such thing"),
    ],
)
async def test_a_prediction_that_fails_is_counted_apart_and_tried_again(
    answer: Response, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def failing(asked: Asked) -> Response:
        return answer if "mcp 1." in asked.question and asked.schema is None else await both()(asked)

    data = data_set(tmp_path, line("mcp", 1, 1), line("mcp", 2, 1))
    async with serving(failing) as engine:
        assert await evaluate(engine.url, data) == 1
    shown = capsys.readouterr()
    assert "prediction failed for 1 of 2 samples" in shown.err
    assert reason in shown.err
    assert "overall     1/2  100.00" in shown.out
    async with serving(both()) as engine:
        found = await report(engine.url, data, capsys)
        assert len(engine.asked) == 2
    assert found["overall"]["scored"] == 2


@pytest.mark.parametrize("verdict", ["no", scores(5, 5, 5, 5, 9), '{"scores": {"format": 5}}', '{"scores": 3}'])
async def test_a_judge_without_all_five_scores_is_asked_three_times_and_then_counted_as_failed(
    verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_set(tmp_path, line("os", 1, 1))
    async with serving(both(verdict=verdict)) as engine:
        shown = await report(engine.url, data, capsys, expected=1)
    assert shown["overall"]["failed"] == {"prediction": 0, "judging": 1}
    assert shown["overall"]["total"] is None
    seeds = [asked.body["seed"] for asked in engine.asked if asked.schema is not None]
    assert len(set(seeds)) == 3


async def test_model_and_judge_get_each_their_own_key_and_nothing_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINE", "key-of-the-model")
    monkeypatch.setenv("THEIRS", "key-of-the-judge")
    data = data_set(tmp_path, line("mcp", 1, 1))
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data, "--api-key-env", "MINE", "--judge-api-key-env", "THEIRS") == 0
    keys = [asked.headers["authorization"] for asked in engine.asked]
    assert keys == ["Bearer key-of-the-model", "Bearer key-of-the-judge"]
    shown = "".join(path.read_text(encoding="utf-8") for path in (data / "out").iterdir())
    assert "key-of" not in shown + "".join(capsys.readouterr())


async def test_an_endpoint_that_is_gone_ends_the_run_and_what_is_done_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def leaving(asked: Asked) -> Response:
        gone = JSONResponse({"error": {"message": "closed for today"}}, status_code=403)
        return gone if asked.before >= 20 else await both()(asked)

    data = data_set(tmp_path, *(line("mcp", n, 1) for n in range(60)))
    async with serving(leaving) as engine:
        assert await evaluate(engine.url, data, "--concurrency", "1") == 4
        assert "closed for today" in capsys.readouterr().err
        assert len(engine.asked) == 20 + 20
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data) == 0
        assert len(engine.asked) == 2 * 60 - 20


async def test_broken_lines_are_shown_counted_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_set(
        tmp_path, line("mcp", 1, 1), {**line("mcp", 2, 1), "turn_idx": 9}, {**line("mcp", 3, 1), "prompt": 5}
    )
    with (data / "mcp_test.jsonl").open("a") as stream:
        stream.write("{\n")
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data, "--json") == 1
    shown = capsys.readouterr()
    assert (json.loads(shown.out)["unreadable"], json.loads(shown.out)["overall"]["scored"]) == (3, 1)
    assert "mcp_test.jsonl:2: turn_idx is 9, and there are 3 responses" in shown.err
    assert "mcp_test.jsonl:3: " in shown.err
    assert "mcp_test.jsonl:4: " in shown.err
    assert "3 lines could not be read" in shown.err


def test_a_folder_without_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "agentworld", str(tmp_path / "none"), "--model", "openai:tiny@http://127.0.0.1:1/v1"]) == 2
    assert "there is no file *_test.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--spec", "crm"), ("--domain", "mcp")], ids=lambda option: option[0])
def test_options_of_recorded_sessions_are_refused_for_the_benchmark(
    option: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", "openai:tiny@http://127.0.0.1:1/v1")
    assert main(["eval", "agentworld", str(data_set(tmp_path)), *model, *option]) == 2
    assert f"{option[0]} goes with `eval sessions`" in capsys.readouterr().err


async def test_the_prompts_of_a_folder_judge_under_the_published_headings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, prompts = data_set(tmp_path / "data", line("mcp", 1, 2)), tmp_path / "prompts"
    (prompts / "mcp").mkdir(parents=True)
    async with serving(both()) as engine:
        assert await evaluate(engine.url, data, "--judge-prompts", str(prompts)) == 2
        assert f"expected {prompts / 'mcp' / 'judge_system_prompt.txt'}" in capsys.readouterr().err
        (prompts / "mcp" / "judge_system_prompt.txt").write_text("Judge it.\n", encoding="utf-8")
        shown = await report(engine.url, data, capsys, "--judge-prompts", str(prompts))
    assert shown["judge_prompts"] == str(prompts)
    system, question = (message["content"] for message in engine.asked[-1].body["messages"])
    assert system == "Judge it."
    assert question == (
        f"# Context (Historical Interactions):\n\n{action(1, 'mcp 1.1')}\n{HEADING}seen mcp 1.1\n\n"
        f"# Current Turn:\n\n{action(2, 'mcp 1.2')}\n\n"
        "**World Model Output (Simulated):**\n```\nseen it\n```\n\n"
        "**Ground Truth (Real Output):**\n```\nseen mcp 1.2\n```"
    )


def test_the_overall_total_is_the_mean_over_samples_and_a_failure_is_no_score() -> None:
    def outcome(domain: str, score: int) -> Outcome:
        return Outcome(domain, dict.fromkeys(DIMENSIONS, score))

    found = summarize([outcome("mcp", 5), outcome("mcp", 5), outcome("web", 2), Outcome("web", None, "judging", "no")])
    assert found.total == pytest.approx((100 + 100 + 25) / 3)
    assert (found.samples, found.scored, found.unjudged) == (4, 3, 1)


async def test_the_builtin_world_and_a_model_are_judged_on_the_same_recorded_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[Json] = [
        {"tool": "git_log", "arguments": {"repo_path": "/repo"}},
        {"tool": "git_status", "arguments": {"repo_path": "/nowhere"}},
    ]
    answer = {"result": {"content": [{"type": "text", "text": "really"}]}}
    session = tmp_path / "git" / "work.jsonl"
    session.parent.mkdir()
    header: Json = {"type": "session", "server": "git", "session": "work", "tools": []}
    lines = [header, *({"type": "call", "seq": at, **call, **answer} for at, call in enumerate(calls, 1))]
    session.write_text("".join(json.dumps(one) + "\n" for one in lines))
    command = ["eval", "sessions", str(tmp_path / "git"), "--spec", "git", "--domain", "terminal", "--json"]
    async with serving(both("$ ")) as engine:
        judge = ["--judge", f"openai:tiny@{engine.url}"]
        shown = list[Json]()
        for name in ("builtin", f"openai:tiny@{engine.url}"):
            out = ["--output", str(tmp_path / name[:7])]
            assert await run_sync(main, [*command, "--model", name, *judge, *out]) == 0
            shown.append(json.loads(capsys.readouterr().out))
        judged = [asked.question for asked in engine.asked if asked.schema is not None]
    assert [one["model"] for one in shown] == ["builtin", "tiny"]
    assert [one["domains"]["terminal"]["scored"] for one in shown] == [2, 2]
    assert all("really" in text for text in judged)
    assert any("/nowhere" in text.partition("# Prediction")[2] for text in judged)
