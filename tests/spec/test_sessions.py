"""Reading and writing recorded sessions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.spec.sessions import read_sessions, session_lines
from mcp_sim.types.errors import DocumentError, UsageError

TOOLS = [{"name": "get_note", "inputSchema": {"type": "object"}}]
RESULT = {"content": [{"type": "text", "text": "Milk"}]}
CALL = {"tool": "get_note", "arguments": {"id": "n1"}, "result": RESULT}


def write(folder: Path, name: str, *lines: Any, tools: Any = TOOLS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / f"{name}.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")


def test_a_written_session_is_read_with_its_tools_its_state_and_all_that_was_recorded(tmp_path: Path) -> None:
    header = {"server": "notes", "session": "first", "initial_state": {"notes": {"n1": "Milk"}}, "package": "npm:notes"}
    failed = {"tool": "get_note", "arguments": {}, "error": {"code": -32602, "message": "no id"}, "seconds": 0.2}
    write(tmp_path, "one", *session_lines(header, [CALL, failed]))
    [session] = read_sessions(tmp_path)
    assert (session.server, session.name, session.state) == ("notes", "first", header["initial_state"])
    assert session.tools == TOOLS
    assert session.header["package"] == "npm:notes"
    assert [(call.seq, call.tool, call.answer) for call in session.calls] == [
        (1, "get_note", {"result": RESULT}),
        (2, "get_note", {"error": failed["error"]}),
    ]
    assert session.calls[1].line["seconds"] == 0.2


def test_sessions_share_a_state_in_a_file_and_may_have_tools_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"notes": {}}', encoding="utf-8")
    given: dict[str, Any] = {"initial_state": {"$ref": "state.json"}}
    write(tmp_path, "one", given, CALL)
    write(tmp_path, "two", {**given, "tools": [{"name": "other"}]}, CALL)
    one, two = read_sessions(tmp_path)
    assert one.state is two.state
    assert (one.server, one.name) == (tmp_path.name, "one")
    assert two.tools == [{"name": "other"}]


def test_lines_of_unknown_types_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "one", {"type": "session"}, {"type": "resource", "uri": "note://1"}, CALL)
    [session] = read_sessions(tmp_path / "one.jsonl")
    assert [call.seq for call in session.calls] == [1]


def test_every_problem_of_every_file_is_reported_with_its_place(tmp_path: Path) -> None:
    bad: list[Any] = [
        {"session": "bad", "initial_state": 7},
        '{"tool": "get_note", ',
        {"arguments": {}, "result": RESULT},
        {"tool": "get_note", "arguments": [1], "result": RESULT},
        {"tool": "get_note", "arguments": {}},
        {"tool": "get_note", "arguments": {}, "result": {"content": "Milk"}},
        [],
    ]
    write(tmp_path, "bad", *bad)
    write(tmp_path, "headless", CALL)
    write(tmp_path, "later", {"format": 99}, CALL)
    write(tmp_path, "stray", {"initial_state": {"$ref": "lost.json"}}, CALL)
    with pytest.raises(DocumentError) as caught:
        read_sessions(tmp_path)
    messages = [str(problem).removeprefix(f"{tmp_path}/") for problem in caught.value.problems]
    assert messages == [
        "bad.jsonl:2: is not JSON: EOF while parsing a value at character 21",
        "bad.jsonl:7: expected a JSON object, got a list",
        "bad.jsonl:1: initial_state: expected an object, got 7",
        "bad.jsonl:3: tool: expected the name of a tool, got null",
        "bad.jsonl:4: arguments: expected an object, got a list",
        "bad.jsonl:5: expected either a `result` or an `error`",
        "bad.jsonl:6: result.content: expected a list of content blocks, got 'Milk'",
        "headless.jsonl:1: expected the header of a session, got another line; it must come first",
        "later.jsonl:1: format: expected at most 1, got 99; use a newer mcp-sim",
        "lost.json: no such file; the header of stray.jsonl names it",
    ]


def test_a_missing_list_of_tools_is_reported_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path, name, {"session": name}, CALL)
    (tmp_path / "tools.json").unlink()
    with pytest.raises(
        DocumentError, match=r"tools\.json: no such file; sessions whose header has no `tools`"
    ) as caught:
        read_sessions(tmp_path)
    assert len(caught.value.problems) == 1


def test_servers_and_sessions_are_chosen_by_glob(tmp_path: Path) -> None:
    for server in ("notes", "tasks"):
        for name in ("a1", "a2", "b1"):
            write(tmp_path / server, name, {"server": server, "session": name}, CALL)
    chosen = read_sessions(tmp_path, ["n*"], ["a*", "b1"], limit=2)
    assert [(session.server, session.name) for session in chosen] == [("notes", "a1"), ("notes", "a2")]
    assert len(read_sessions(tmp_path)) == 6
    with pytest.raises(UsageError, match="no server matches note; did you mean 'notes'"):
        read_sessions(tmp_path, ["note"])
    with pytest.raises(UsageError, match="no session matches c"):
        read_sessions(tmp_path, ["*"], ["c"])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="no recorded sessions"):
        read_sessions(empty)


# recordings of strangers ----------------------------------------------------------------------------------------------


def problems(place: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        read_sessions(place)
    return str(caught.value)


def test_a_state_is_read_only_from_a_regular_file_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(folder, "one", {}, CALL)
    (tmp_path / "secret.json").write_text('{"notes": "secret"}', encoding="utf-8")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "loop.json").symlink_to("loop.json")
    os.mkfifo(folder / "pipe.json")
    outside = ("/etc/passwd", "../secret.json", "link.json", "/dev/zero")
    reasons = {
        **dict.fromkeys(outside, "is outside the folder of one.jsonl"),
        "pipe.json": "is not a regular file",
        ".": "is not a regular file",
        **dict.fromkeys(("loop.json", "a\0.json", "x" * 5000, "\ud800.json"), "is"),
    }
    for name, reason in reasons.items():
        write(folder, "one", {"initial_state": {"$ref": name}}, CALL)
        assert reason in problems(folder), name
        assert "secret'" not in problems(folder)


def test_a_pipe_among_sessions_or_instead_of_tools_is_refused_at_once(tmp_path: Path) -> None:
    write(tmp_path, "one", {}, CALL)
    os.mkfifo(tmp_path / "two.jsonl")
    assert "two.jsonl: is not a regular file" in problems(tmp_path)
    (tmp_path / "two.jsonl").unlink()
    (tmp_path / "tools.json").unlink()
    os.mkfifo(tmp_path / "tools.json")
    assert "tools.json: is not a regular file" in problems(tmp_path)


ODD_LINES = {
    "[" * 300 + "]" * 300: "is nested too deeply",
    "[" * 100_000: "is nested too deeply",
    '{"a": %s}' % ("9" * 5_000): "is not JSON: number out of range",
    '{"a": 1e999}': "is not JSON: it has numbers that are too large",
    '{"a": NaN}': "is not JSON",
    '"\\ud800"': "expected a JSON object",
    '{"server": [1]}': "server: expected a name, got a list",
}


@pytest.mark.parametrize("line", ODD_LINES, ids=range(len(ODD_LINES)))
def test_a_line_that_no_real_answer_holds_is_a_problem_at_its_place(tmp_path: Path, line: str) -> None:
    write(tmp_path, "one", line, CALL)
    assert f"one.jsonl:1: {ODD_LINES[line]}" in problems(tmp_path)


def test_of_many_invalid_lines_the_first_hundred_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "one", {}, *["none"] * 200_000)
    assert problems(tmp_path).count("is not JSON") == 100


def test_a_file_whose_first_line_is_not_json_is_reported_once(tmp_path: Path) -> None:
    write(tmp_path, "one", "mcp_sim: 1", "name: notes", "tools: notes.json")
    assert problems(tmp_path).count("one.jsonl") == 1


def test_a_file_that_is_too_large_or_no_text_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "one", {}, CALL)
    with (tmp_path / "one.jsonl").open("r+b") as file:
        file.truncate(65 << 20)
    assert "is larger than 64 MiB" in problems(tmp_path)
    (tmp_path / "one.jsonl").write_bytes(b"\xff\xfe{")
    assert "is not UTF-8 text" in problems(tmp_path)


def test_a_session_that_is_a_link_to_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "notes", tmp_path / "elsewhere.jsonl"
    folder.mkdir()
    elsewhere.write_text('{"type": "session", "tools": []}\n{"tool": "t", "result": {}}\n', encoding="utf-8")
    (folder / "first.jsonl").symlink_to(elsewhere)
    with pytest.raises(DocumentError, match=r"is outside the folder of first\.jsonl"):
        read_sessions(folder)


def test_of_many_calls_without_answers_the_first_hundred_problems_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "first.jsonl"
    path.write_text('{"type": "session", "tools": []}\n' + "{}\n" * 100_000, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_sessions(path)
    assert len(caught.value.problems) <= 102
