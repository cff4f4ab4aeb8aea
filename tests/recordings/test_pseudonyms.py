"""`mcp-sim record --pseudonyms`: personal data becomes stand-ins, and what belongs together still does."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import subprocess
from argparse import Namespace
from base64 import b64decode, b64encode, encodebytes, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from support.places import ROOT
from support.stdio_process import Wire, stderr_of
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.cli.record import Recording
from mcp_sim.recordings.capture.pseudonyms import KEY_FILE, Pseudonyms, pseudonym_key
from mcp_sim.recordings.relays import backlog
from mcp_sim.spec.sessions import read_sessions

KEY = b"k" * 32

SCENARIO = """
mcp_sim: 1
name: people
tools: {spec: people.spec.yaml}
"""
SPEC = """
mcp_sim: 1
name: people
program: people.py
tools:
  - {name: add_person, inputSchema: {type: object, properties: {name: {type: string}, email: {type: string}}}}
  - {name: get_person, inputSchema: {type: object, properties: {id: {type: string}}, required: [id]}}
  - {name: find_people, inputSchema: {type: object, properties: {query: {type: string}}, required: [query]}}
  - {name: remove_person, inputSchema: {type: object, properties: {id: {type: string}}, required: [id]}}
"""
PROGRAM = """
from mcp_sim.programs import Refused, tool

tables = {"person": {"key": "id", "ids": "P-0001", "fields": {"name": "", "email": ""}}}


def shown(person):
    return f"{person['id']}: {person['name']} <{person['email']}>"


def existing(world, id):
    person = world.person.get(id)
    if person is None:
        raise Refused(f"No person has the number {id}.")
    return person


@tool
def add_person(world, name, email):
    person = world.person.add(name=name, email=email)
    return f"Welcome, {name}! Your number is {person['id']}, and we write to {email}."


@tool
def get_person(world, id):
    return shown(existing(world, id))


@tool
def find_people(world, query):
    return "\\n".join(map(shown, world.person.search(query))) or f"Nobody is called {query}."


@tool
def remove_person(world, id):
    person = existing(world, id)
    world.person.delete(id)
    return f"Goodbye, {person['name']}."
"""
PEOPLE = (("Ada Vos", "ada.vos@logistics.nl"), ("Brigitte Okonkwo", "bokonkwo@web.de"), ("Émile Berg", "emile@post.fr"))
REAL = ("Vos", "vos", "Ada", "ada.", "Brigitte", "Okonkwo", "okonkwo", "mile", "Berg")
"""Parts of the personal data in the sessions."""


def calls_of(people: Sequence[tuple[str, str]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of a session. The first names somebody who is not known to be a person yet."""
    surname = people[0][0].split()[1]
    return [
        ("find_people", {"query": surname}),
        *(("add_person", {"name": name, "email": email}) for name, email in people),
        ("find_people", {"query": surname}),
        ("find_people", {"query": people[1][1]}),
        ("get_person", {"id": "P-0001"}),
        ("remove_person", {"id": "P-0001"}),
        ("get_person", {"id": "P-0001"}),
        ("remove_person", {"id": "P-0009"}),
        ("get_person", {"id": "P-0002"}),
    ]


def record(folder: Path, people: Sequence[tuple[str, str]], *options: str) -> str:
    """Record a session with a server that greets people; return what the command reports."""
    for name, text in (("people.yaml", SCENARIO), ("people.spec.yaml", SPEC), ("people.py", PROGRAM)):
        (folder.parent / name).write_text(text, encoding="utf-8")
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests: list[tuple[str, Any]] = [("initialize", client), ("tools/list", {})]
    requests += [("tools/call", {"name": tool, "arguments": arguments}) for tool, arguments in calls_of(people)]
    serve = [PYTHON, "-m", "mcp_sim", "serve", str(folder.parent / "people.yaml"), "--trust", str(folder.parent)]
    words = [PYTHON, "-m", "mcp_sim", "record", "-o", str(folder), *options, "--", *serve, "--log-level", "error"]
    path, pipe = {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
    with subprocess.Popen(words, env=path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        wire, unanswered = Wire(process), set(range(len(requests)))
        for number, (method, params) in enumerate(requests):
            wire.request(number, method, params)
        while unanswered:  # once stdin is closed, the server waits for a second only
            unanswered.discard(wire.answer().get("id"))
        wire.leave()
        assert process.returncode == 0
        return stderr_of(wire)


def test_no_file_of_a_recording_has_personal_data_and_a_spec_that_is_learnt_from_it_is_as_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real, folder = tmp_path / "real", tmp_path / "stand-ins"
    folder.mkdir()
    (folder / KEY_FILE).write_text(KEY.hex())  # stand-ins of another key may hold a part of a name: Lavosika
    reports = list[str]()
    for number, people in enumerate((PEOPLE, PEOPLE[::-1], (*PEOPLE[1:], PEOPLE[0]))):
        record(real, people, "--session", f"s{number}")
        reports.append(record(folder, people, "--session", f"s{number}", "--pseudonyms"))
    assert "personal data was replaced by stand-ins:\n  mail: 3 different\n  name: 6 different\n" in reports[-1]
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert texts.pop(".gitignore") == ".pseudonyms.key\n"
    assert set(texts) == {"s0.jsonl", "s1.jsonl", "s2.jsonl", "tools.json", ".pseudonyms.key"}
    assert [(name, part) for name, text in texts.items() for part in REAL if part in text] == []
    assert all(part in (real / "s0.jsonl").read_text(encoding="utf-8") for part in ("Okonkwo", "ada.vos@"))

    sessions = read_sessions(folder)
    names = [{call.arguments["name"] for call in session.calls if "name" in call.arguments} for session in sessions]
    assert names[0] == names[1] == names[2]
    search, added, *_ = sessions[0].calls
    assert search.arguments["query"] == added.arguments["name"].split()[1]

    scores = list[float]()
    for place in (real, folder):
        assert main(["learn", str(place), "-o", str(tmp_path / f"{place.name}.yaml")]) == 0
        capsys.readouterr()
        assert main(["measure", str(tmp_path / f"{place.name}.yaml"), str(place), "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out)["score"])
        assert main(["measure", str(place), str(place), "--no-cold", "--at-least", "1"]) == 0
        capsys.readouterr()
    assert scores == [1.0, 1.0]


def replaced(line: dict[str, Any], tool: str = "do") -> Any:
    return Pseudonyms(KEY).redact(line, tool)


@pytest.mark.parametrize(
    "line",
    [
        {"arguments": {"to": "Ada Vos <ada@x.org>", "text": "Dear Ada, ADA-VOS, @ada, Vos, A."}},
        {"arguments": {"first_name": "Ada", "last_name": "Vos"}, "result": {"text": "VOS, Ada"}},
        {"arguments": {"assignee": "Ada Vos"}, "result": {"text": "ada.vos is busy"}},
        {"result": {"text": "- **Full name:** Ada Vos\n- **Phone:** 020 555 0147"}},
        {"result": {"text": "| Name | Email |\n| --- | --- |\n| Ada Vos | ada@x.org |"}},
        {"result": {"text": '{"users": [{"name": "Ada Vos", "url": "https://x.org/users/ada/notes"}]}'}},
        {"arguments": {"username": "ada_vos"}, "result": {"text": '{"by": "ada_vos", "likes": {"ada_vos": 1}}'}},
        {"result": {"usernames": ["ada_vos"]}},
        {"result": {"users": {"u1": {"name": "Ada Vos"}, "u2": {"name": "Émile Berg"}}}},
        {"result": {"user": {"profile": {"name": "Ada Vos"}}}},
        {"result": {"ada.vos@corp.com": {"name": "Ada Vos"}}},
        {"arguments": {"first_name": "ada"}, "result": {"note": "Ada and ADA"}},
        {"result": {"assignees": {"Ada Vos": 3, "Émile Berg": 0}}},
        {"result": {"members": {"Ada": {"tasks": 1}}, "note": "Ask Ada."}},
        {"result": {"text": "Two members:\n\nid,username,full name\n1,ada,Ada Vos\n2,berg,Émile Berg\n"}},
        {"result": {"text": '```csv\n"full name";"note"\n"Vos, Ada";"says ""hello"""\n```'}},
        {"result": {"name": "Ada Vos", "email": "ada@x.org", "text": '{"note": "-\\nAda Vos\\nada@x.org\\tVos"}'}},
        {"result": {"text": "\ufefffull name,note\r\nAda Vos,-\r\n"}},
    ],
)
def test_a_name_is_replaced_wherever_it_appears(line: dict[str, Any]) -> None:
    shown = json.dumps(replaced(line))
    assert not re.search(r"\b(ada|vos)\b", shown.replace("_", " "), re.IGNORECASE), shown
    assert len(json.loads(shown)) == len(line)


FORMS: dict[str, Callable[[bytes], str]] = {
    "one line": lambda data: b64encode(data).decode(),
    "one line with an end": lambda data: b64encode(data).decode() + "\n",
    "wrapped": lambda data: encodebytes(data).decode(),
    "wrapped as in mails": lambda data: encodebytes(data).decode().replace("\n", "\r\n"),
    "for addresses": lambda data: urlsafe_b64encode(data).decode(),
    "for addresses, without padding": lambda data: urlsafe_b64encode(data).decode().rstrip("="),
    "an address": lambda data: "data:text/csv;charset=utf-8;base64," + b64encode(data).decode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_names_are_replaced_within_base64(form: str, start: str) -> None:
    text = f'{start}name,mail\r\nAda Vos,ada@x.org\r\nÉmile Berg,emile@x.org\r\n"¿Who?","þÿ>>>???!"\r\n'
    blob = FORMS[form](text.encode())
    line = replaced({"result": {"contents": [{"blob": blob}], "note": "Ada Vos", "other": "YWJjZGVmZ2hpamtsbW5vcA=="}})
    [content] = line["result"]["contents"]
    code = content["blob"].partition(",")[2] or content["blob"]
    shown = (b64decode if "+" in code or "/" in code else urlsafe_b64decode)(code + "=" * (-len(code.strip()) % 4))
    assert content["blob"] == FORMS[form](shown)
    assert shown.decode().startswith(f"{start}name,mail\r\n")
    names, mails = zip(*csv.reader(shown.decode().splitlines()), strict=True)
    assert names[1] == line["result"]["note"]
    assert not re.search("Ada|Vos|Émile|Berg", " ".join((*names, *mails)), re.IGNORECASE)
    assert line["result"]["other"] == "YWJjZGVmZ2hpamtsbW5vcA=="


def test_a_record_by_its_id_is_about_a_person_if_the_tool_lists_persons() -> None:
    line = {"result": {"u1": {"name": "Ada Vos"}}}
    assert replaced(line, "list_users")["result"]["u1"]["name"] != "Ada Vos"
    assert replaced(line, "list_projects") == line


@pytest.mark.parametrize(
    "record",
    [
        {"phone_numbers": ["020 7946 0000"]},
        {"phones": [{"type": "work", "value": "020 7946 0000"}]},
        {"phone": {"number": "020 7946 0000"}},
        {"phone": 442079460000.0},
        {"phone": {"number": 442079460000}},
        {"addresses": ["12 Long Lane"]},
        {"address": "12 Long Lane, Dover", "text": "address,note\n12 Long Lane, Dover\n"},
    ],
)
def test_numbers_and_streets_are_replaced_in_lists_and_objects(record: dict[str, Any]) -> None:
    shown = json.dumps(replaced({"result": {**record, "note": json.dumps(record)}}))
    assert not re.search("7946 ?0000|Long Lane", shown), shown
    assert [*json.loads(shown)["result"]] == [*record, "note"]


def test_stand_ins_keep_the_form_of_what_they_replace() -> None:
    line = replaced(
        {
            "arguments": {"card_number": "4111 1111 1111 1111", "phone": 31201234567, "street": "Damrak 1"},
            "result": {"text": "4111111111111111, +31 20 123 4567, tel:+31201234567, Damrak 1", "n": 31201234567},
        }
    )
    arguments, text = line["arguments"], line["result"]["text"].split(", ")
    assert re.fullmatch(r"4\d{3} \d{4} \d{4} 1111", arguments["card_number"])
    assert text[0] == arguments["card_number"].replace(" ", "")
    assert re.fullmatch(r"\+31 \d\d \d{3} \d{4}", text[1])
    assert text[2] == f"tel:{text[1].replace(' ', '')}"
    assert text[3] == arguments["street"] != "Damrak 1"
    assert len(str(arguments["phone"])) == 11
    assert arguments["phone"] != 31201234567


def test_another_key_gives_other_stand_ins() -> None:
    line = {"arguments": {"email": "ada@vos.nl"}}
    assert Pseudonyms(KEY).redact(line, "") == Pseudonyms(KEY).redact(line, "") != Pseudonyms(b"x").redact(line, "")


@pytest.mark.parametrize(
    "text",
    [
        "Will you mark it by May 5?",
        "logo@2x.png, left-pad@1.3.0, git@github.com:ada/notes.git, support@shop.nl, you@example.com",
        "2029-03-01T09:00:00+01:00, 1772355600000, build 20290301-4, 10.0.0.1, v1.2.3",
        "5500 0000 0000 0001 is no card, 123456789012345678 is no phone",
        "<redacted:password-1>",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    people = [{"name": "May Marks", "email": "may@x.org"}, {"name": "Mark Will", "email": "m.will@x.org"}]
    line = replaced({"arguments": {"people": people}, "result": {"text": text}})
    assert line["result"]["text"] == text


@pytest.mark.parametrize(
    "record",
    [
        {"name": "Spring order", "status": "open", "owner": "con_00001", "assignee": None, "team": "Sales"},
        {"user": {"name": "Support Team", "email": "team@x.example"}},
        {"username": "string", "phone": "string", "login": "required"},
        {"ip_address": "10.1.2.3 port 8080", "wallet_addresses": ["bc1 qxyz 123"], "url_address": "http://abc.io/ 33"},
        {"cells": [1200000, "2029-03-01"], "user": {"company": {"name": "Bright Harbour"}}},
        {"users": {"total": 3, "Active": True}, "text": "Dear all,\nMay, Mark and others, come"},
        {"users": {"Active": 1, "Pending": 1}, "note": "Status Active now"},
        {"text": "id,title,done\n1,Spring order,no\n"},
        {"card": "todo-123", "cell": "B12", "address": "0x401000 <main+4>", "last_login": "2029-03-01T09:00:00Z"},
    ],
)
def test_records_without_personal_data_stay_as_they_are(record: dict[str, Any]) -> None:
    line = {"result": {"content": [{"type": "text", "text": json.dumps(record)}], "structuredContent": record}}
    assert replaced(line) == line


def test_a_word_of_the_list_of_tools_is_not_taken_for_a_name() -> None:
    pseudonyms = Pseudonyms(KEY)
    schema = {"properties": {"sort_by": {"enum": ["price", "date"]}, "assignee": {"enum": ["Jo Price"]}}}
    [tool] = pseudonyms.redact_schemas([{"name": "list_offers", "inputSchema": schema}], "tools")
    [assignee] = tool["inputSchema"]["properties"]["assignee"]["enum"]
    line = pseudonyms.redact({"arguments": {"sort_by": "price", "assignee": "Jo Price"}}, "list_offers")
    assert line == {"arguments": {"sort_by": "price", "assignee": assignee}}
    assert assignee != "Jo Price"


def test_thousands_of_addresses_and_numbers_do_not_hold_up_a_recording(tmp_path: Path) -> None:
    mails = " ".join(f"a{number}@post.fr" for number in range(40_000))
    numbers = [{"phone": f"+31 20 {number}", "street": f"Long Lane {number}"} for number in range(1_000_000, 1_015_000)]
    results = [{"text": mails}, {"people": numbers[:2_000]}, *numbers[2_000:]]
    write_messages(tmp_path / "messages.jsonl", [{"name": "do"}], results)
    done = subprocess.run(
        [PYTHON, "-m", "mcp_sim", "record", "-o", "made", "--pseudonyms", "--no-redact", "--from", "messages.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "out of memory" not in done.stderr
    assert "  number: 15000 different\n  street: 15000 different\n" in done.stderr


def write_messages(path: Path, tools: list[Any], results: Sequence[Any]) -> None:
    """Write the messages of a session that lists tools, and calls `do` once for each result."""
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "people"}}
    pairs: list[tuple[str, Any, Any]] = [("initialize", {}, info), ("tools/list", {}, {"tools": tools})]
    pairs += [("tools/call", {"name": "do"}, {"content": [], "structuredContent": result}) for result in results]
    messages = [
        message
        for number, (method, params, result) in enumerate(pairs)
        for message in ({"id": number, "method": method, "params": params}, {"id": number, "result": result})
    ]
    path.write_text("".join(f"{json.dumps({'jsonrpc': '2.0', **message})}\n" for message in messages), encoding="utf-8")


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "do", "inputSchema": {"properties": {"to": {"examples": 5}}}},
        {"name": "do", "inputSchema": {"properties": {"enum": True}}},
        {"name": ["do"]},
    ],
)
def test_a_malformed_list_of_tools_does_not_end_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_messages(Path("messages.jsonl"), [tool], [{"assignee": "Ada Vos"}])
    assert main(["record", "-o", "made", "--pseudonyms", "--session", "a", "--from", "messages.jsonl"]) == 0
    assert json.loads(Path("made/tools.json").read_bytes()) == {"tools": [tool]}
    assert "Vos" not in Path("made/a.jsonl").read_text(encoding="utf-8")


def test_a_session_that_is_still_being_written_is_not_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(backlog, "FINISH_SECONDS", 0)
    recording = Recording(
        Namespace(output=tmp_path, session="a", pseudonyms=True, no_redact=False, redact=[], redact_pattern=[])
    )
    is_written, may_end = Event(), Event()

    class Reader:
        def take(self, kind: str, channel: int, data: Any, at: float) -> None:
            session = recording.folder.new_session("")
            for arguments in ({"query": "Vos"}, {"assignee": "Ada Vos"}):
                session.write({"type": "call", "arguments": arguments})
            is_written.set()
            may_end.wait(60)

        def finish(self, at: float) -> None: ...

    waiting = backlog.Backlog(Reader)
    waiting.put("line", 0, b"")
    assert is_written.wait(60)
    before = (tmp_path / "a.jsonl").stat().st_ino
    is_complete = waiting.finish()
    recording.finish(is_complete=is_complete)
    may_end.set()
    assert (tmp_path / "a.jsonl").stat().st_ino == before
    assert "the recording may still have personal data" in capsys.readouterr().err


def test_a_folder_without_hard_links_keeps_no_part_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(PermissionError):
        pseudonym_key(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_descriptions_of_shipped_tools_stay_as_they_are() -> None:
    tools = [
        tool for path in (ROOT / "tool_specs").glob("*/*.tools.json") for tool in json.loads(path.read_bytes())["tools"]
    ]
    assert len(tools) > 500
    changed = [tool["name"] for tool in tools if Pseudonyms(KEY).redact_schemas([tool], "tools") != [tool]]
    assert changed == ["set_note"]  # by default the author is Claude
