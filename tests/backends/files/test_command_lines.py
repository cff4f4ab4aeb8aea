"""Tools that run command lines on the tree of files that other tools use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, result, simulator, tool

from mcp_sim import Simulator

Json = Any
STATE = {"cwd": "/home/ada", "files": {"a.txt": "one\ntwo\n", "b.txt": "three\n", "docs": {"c.md": "# C"}}}
RUN = tool("run_command", "Run a shell command.", needed="command", command=TEXT, cwd=TEXT, stdin=TEXT)


@pytest.fixture
def shell(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, [RUN], STATE)


OUTPUTS = [
    ("ls", "a.txt\nb.txt\ndocs\n"), ("cat a.txt b.txt", "one\ntwo\nthree\n"), ("cat *.txt | wc -l", "3\n"),
    ("pwd; cd docs && pwd", "/home/ada\n/home/ada/docs\n"), ("echo 'a  b' c", "a  b c\n"), ("cat < b.txt", "three\n"),
    ("grep -n t a.txt", "2:two\n"), ("grep -r -i C docs", "docs/c.md:# C\n"), ("grep -c o a.txt", "2\n"),
    ("find . -name '*.md' -type f", "./docs/c.md\n"), ("find docs", "docs\ndocs/c.md\n"), ("wc a.txt", "2 2 8 a.txt\n"),
    ("head -n 1 a.txt", "one\n"), ("tail -1 a.txt", "two\n"), ("sort -r a.txt", "two\none\n"),
    ("false || echo no", "no\n"), ("false && echo no; true", ""), ("cat none 2>/dev/null || echo gone", "gone"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "output"), OUTPUTS)
async def test_commands_print_what_a_shell_would(shell: Simulator, line: str, output: str) -> None:
    async with shell.open() as world:
        assert (await answered(world, "run_command", command=line)).startswith(output)


ERRORS = [
    ("cat none", "cat: none: No such file or directory"), ("nothing", "nothing: command not found"),
    ("cat docs", "Is a directory"), ("rm docs", "Is a directory"), ("rm -rf /", "dangerous"), ("mkdir docs", "exists"),
    ("mkdir x/y", "No such file"), ("cp docs other", "-r not specified"), ("mv docs docs/inner", "same file"),
    ("rmdir docs", "not empty"), ("grep zz a.txt", "exit code 1"), ("grep '(' a.txt", "regular expression"),
    ("echo $(cat a.txt)", "Substitutions"), ("echo 'a", "Syntax error"), ("echo x >", "a file is missing"),
    ("head -n x a.txt", "invalid number"), ("find . -exec rm", "unknown predicate '-exec'"),
    ("touch", "missing operand"),
    ("cat ../../../../etc/passwd", "outside the root"), ("", "empty"), ("echo x ;| cat", "Syntax error"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "reason"), ERRORS)
async def test_a_failing_command_gives_a_reason_and_changes_nothing(shell: Simulator, line: str, reason: str) -> None:
    async with shell.open() as world:
        assert reason in await refused(world, "run_command", command=line)
        assert await answered(world, "run_command", command="find . -type f") == "./a.txt\n./b.txt\n./docs/c.md\n"


async def test_other_tools_read_what_a_command_writes_and_each_call_starts_in_the_same_directory(
    tmp_path: Path,
) -> None:
    tools = [RUN, tool("read_file", path=TEXT), tool("write_file", path=TEXT, content=TEXT)]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        line = "mkdir -p new/deep && cd new && echo hello > deep/x.txt && echo more >> deep/x.txt"
        assert await answered(world, "run_command", command=line) == ""
        assert await answered(world, "read_file", path="/home/ada/new/deep/x.txt") == "hello\nmore\n"
        await answered(world, "write_file", path="/home/ada/y.txt", content="from a tool")
        assert await answered(world, "run_command", command="cat y.txt") == "from a tool"
        await answered(world, "run_command", command="cp -r new copy; mv a.txt y.txt copy; touch z; rm b.txt")
        assert await answered(world, "run_command", command="ls . copy") == (
            ".:\ncopy\ndocs\nnew\nz\n\ncopy:\na.txt\ndeep\ny.txt\n"
        )
        assert await answered(world, "run_command", command="cat", stdin="as given") == "as given"
        assert await answered(world, "run_command", command="ls", cwd="/home/ada/docs") == "c.md\n"
        assert "nowhere" in await refused(world, "run_command", command="ls", cwd="/nowhere")


async def test_a_command_may_be_a_list_of_words_and_the_exit_code_is_in_a_field_for_it(tmp_path: Path) -> None:
    parts = {"stdout": TEXT, "stderr": TEXT, "exit_code": {"type": "integer"}}
    output = {"type": "object", "properties": parts, "required": [*parts]}
    words = {"type": "array", "items": TEXT}
    tools = [tool("shell_exec", "Runs a program.", output=output, command=words)]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        done = await answered(world, "shell_exec", command=["echo", "a b;c"])
        failed = await answered(world, "shell_exec", command=["cat", "none"])

    assert done == {"stdout": "a b;c\n", "stderr": "", "exit_code": 0}
    assert failed == {"stdout": "", "stderr": "cat: none: No such file or directory", "exit_code": 1}


async def test_a_listing_of_many_files_and_a_catastrophic_expression_end(tmp_path: Path) -> None:
    files = {f"/d/{number:05}.txt": "a" * 40 for number in range(20_000)}
    tools = [RUN, tool("list_directory", path=TEXT), tool("read_file", path=TEXT)]
    async with simulator(tmp_path, tools, {"files": files}) as sim, sim.open("desk") as world:
        assert len((await answered(world, "list_directory", path="/d")).splitlines()) == 20_000
        body = result(await world.call("run_command", {"command": "grep -r '(a+)+$b' /d"}))
        assert body.is_error


def test_only_tools_that_run_arbitrary_commands_match(tmp_path: Path) -> None:
    tools = [
        tool("debugger_command", "Run a command in the debugger.", command=TEXT),
        tool("execute_sql_command", "Run SQL.", command=TEXT),
        tool("execute_command", "Executes a command on the system.", command=TEXT),
    ]
    found = backends(simulator(tmp_path, tools))
    assert found["execute_command"] == "files run"
    assert "files" not in found["debugger_command"] + found["execute_sql_command"]


async def test_doubling_a_file_repeatedly_is_refused(tmp_path: Path) -> None:
    doubled = ";".join("cat a.txt b.txt > c.txt; cat c.txt c.txt > a.txt" for _ in range(300))
    async with simulator(tmp_path, [RUN], STATE) as sim, sim.open("desk") as world:
        assert "reads more than" in await refused(world, "run_command", command=doubled)


async def test_a_started_process_runs_its_command_and_may_fail(tmp_path: Path) -> None:
    start = tool("start_process", "Start a terminal process.", command=TEXT, timeout_ms={"type": "number"})
    read = [tool("read_file", path=TEXT), tool("list_directory", path=TEXT)]
    async with simulator(tmp_path, [start, *read], STATE) as sim, sim.open() as world:
        await answered(world, "start_process", command="echo four > d.txt", timeout_ms=100)
        assert "four" in await answered(world, "read_file", path="d.txt")
        assert "No such file" in await answered(world, "start_process", command="cat none", timeout_ms=100)
