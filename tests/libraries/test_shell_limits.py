"""Commands, files and numbers that are too large or too odd: each one is refused, and the shell goes on."""

from __future__ import annotations

import io
import tarfile
from base64 import b64encode
from pathlib import Path
from typing import cast

import pytest
from support.shells import out, run, simulator

from mcp_sim.libraries.shell.commands import COMMANDS, Body
from mcp_sim.libraries.shell.commands.invocation import Invocation
from mcp_sim.programs.watchdog import Overgrown
from mcp_sim.types.errors import McpSimError


def _sparse() -> str:
    """Return an archive of a few kilobytes whose file has a gigabyte, in base64."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("big")
        member.pax_headers = {"GNU.sparse.size": str(1 << 30), "GNU.sparse.numblocks": "0", "GNU.sparse.map": "0,0"}
        archive.addfile(member)
    return b64encode(buffer.getvalue()).decode()


MANY = "9" * 5000
REFUSED = (
    ("touch -d @99999999999999999999 x", ""),
    ("touch -d '9999-12-31 +1 day' x", ""),
    ("date -d @99999999999999999999", "date: invalid date '@99999999999999999999'"),
    ("date -d '9999-12-31 +1 day'", "date: time out of range"),
    (f"date -d {MANY}days", "date: invalid date"),
    ("xxd -s zz a.txt", "xxd: invalid argument"),
    ("xxd -c 60000000 a.txt", "xxd: invalid number of columns (max. 256)."),
    (f"shuf -i 1-{MANY}", "shuf: invalid argument"),
    ("split a.txt missing/x", "split: "),
    ("split -a 2000000 a.txt", "split: invalid suffix length: '2000000'"),
    ("tar cf t.tar --strip-components=x a.txt", "tar: invalid argument"),
    (r"tar cf t.tar --transform 's/a/\7/' a.txt", "tar: Invalid transform expression"),
    ("tar xf sparse.tar", "tar: Cannot write: No space left on device"),
    ("git init -q .; git log HEAD~99999999999999999999", "fatal: "),
    (":" + " " * 200_000, "bash: /bin/bash: Argument list too long"),
)


async def test_what_is_too_large_is_refused_as_linux_refuses_it(tmp_path: Path) -> None:
    files = {"/app/a.txt": "one\n", "/app/sparse.tar": {"base64": _sparse()}}
    async with simulator(tmp_path, files).open(seed=1) as world:
        await run(world, "cd /app")
        for command, problem in REFUSED:
            result = await run(world.fork(), command)
            assert result["stderr"].startswith(problem), result
            assert "Error" not in result["stderr"].replace("tar: Error is not", ""), result
            assert result["exit_code"], result
        assert await out(world, f"find . -mtime +{MANY}; stat --printf=%60000000n a.txt | wc -c") == "4096\n"


async def test_expressions_of_commands_and_for_commands_take_time_by_their_length(tmp_path: Path) -> None:
    names = {"/app/" + "a" * 200 + "!": ""}
    async with simulator(tmp_path, names).open(seed=1) as world:
        assert (await out(world, "cd /app; tar cf t.tar --transform 's/(a+)+$/x/' a*; tar tf t.tar")).startswith("aaa")
        await run(world, "git init -q .; git -c user.name=a -c user.email=b commit -q --allow-empty -m x")
        assert "unknown revision" in await out(world, "git log HEAD~999999999")
        digits = "1" * 190_000
        assert "invalid time interval" in await out(world, f"sleep {digits}x")
        assert (await run(world, f": {'touch ' * 30_000}"))["exit_code"] == 0


async def test_a_million_numbers_stay_within_the_memory_of_a_call(tmp_path: Path) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        assert await out(world, "seq 1000000 | tail -1; seq -w -s, 9.5 .5 10") == "1000000\n09.5,10.0\n"
        assert await out(world, "seq 1000000 | wc") == "1000000 1000000 6888896\n"


def _overgrow(run: Invocation) -> None:
    raise Overgrown


async def test_a_command_that_the_watchdog_ends_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, Body]", COMMANDS), "yes", _overgrow)
    async with simulator(tmp_path).open(seed=1) as world:
        with pytest.raises(McpSimError, match=Overgrown.reason):
            await run(world, "yes | tail -1; echo done")
        assert await out(world, "echo fine") == "fine\n"


@pytest.mark.parametrize("name", ["a\nb", "a\u200bb", "a\u202eb", "n" * 300, "big"])
async def test_files_that_a_shell_cannot_hold_leave_it_working(tmp_path: Path, name: str) -> None:
    content = "x" * (11 << 20) if name == "big" else "x"
    async with simulator(tmp_path, {"/app/a.txt": "one\n", f"/app/{name}": content}).open(seed=1) as world:
        assert await out(world, "cd /app; echo two >> a.txt; cat a.txt") == "one\ntwo\n"
        assert (world.view.get("file", f"/app/{name}") or {})["content"] == content
