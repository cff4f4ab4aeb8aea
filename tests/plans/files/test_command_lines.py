"""Tools that run command lines on the tree of files that other tools use."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.matched_tools import TEXT, answered, refused, result, simulator, tool

from mcp_sim import Simulator

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


async def test_a_listing_of_many_files_and_a_catastrophic_expression_end(tmp_path: Path) -> None:
    files = {f"/d/{number:05}.txt": "a" * 40 for number in range(20_000)}
    tools = [RUN, tool("list_directory", path=TEXT), tool("read_file", path=TEXT)]
    async with simulator(tmp_path, tools, {"files": files}) as sim, sim.open("desk") as world:
        assert len((await answered(world, "list_directory", path="/d")).splitlines()) == 20_000
        body = result(await world.call("run_command", {"command": "grep -r '(a+)+$b' /d"}))
        assert body.is_error


async def test_doubling_a_file_repeatedly_is_refused(tmp_path: Path) -> None:
    doubled = ";".join("cat a.txt b.txt > c.txt; cat c.txt c.txt > a.txt" for _ in range(300))
    async with simulator(tmp_path, [RUN], STATE) as sim, sim.open("desk") as world:
        assert "reads more than" in await refused(world, "run_command", command=doubled)
