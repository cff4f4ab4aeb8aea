"""Files that commands write."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mcp_sim.cli import main
from mcp_sim.cli.files import read_text, replace_file
from mcp_sim.cli.parsing import writable_file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = list[str]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    replace_file(pipe, "records")
    reader.join(10)
    assert read == ["records"]
    assert pipe.is_fifo()


def test_a_file_is_replaced_with_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text("old")
    file.chmod(0o640)
    replace_file(file, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs names of open files")
def test_a_pipe_is_written_to() -> None:
    reading, writing = os.pipe()
    replace_file(writable_file("--json", Path(f"/dev/fd/{writing}")), "new")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "new"


COMMANDS = (
    "run calm_crm --seeds 1 --json {folder} -- touch {begun}",
    "run calm_crm --seeds 1 --html {folder} -- touch {begun}",
    "run calm_crm --seeds 1 --traces {below} -- touch {begun}",
    "record -o {below} -- touch {begun}",
    "record -o {below} --url 9 --http 0",
    "record -o {below} --from no-such-file",
    "hunt calm_crm -o {below} -- touch {begun}",
    "compile crm -o {below}/crm.py --reply no-such-file.py",
    "generate calm_crm -o {below}/records.json",
    "measure crm no-such-folder --details {below}",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_is_refused_before_the_work_begins(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, begun = tmp_path / "file", tmp_path / "begun"
    file.write_text("a file")
    places = {"folder": tmp_path, "below": file / "below", "begun": begun}
    assert main([word.format_map(places) for word in command.split()]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert {*tmp_path.iterdir()} == {file}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_texts_of_all_systems_are_read_alike(tmp_path: Path, mark: bytes, end: bytes) -> None:
    file = tmp_path / "reply.md"
    file.write_bytes(mark + end.join([b"```python", b"tables = {}", b"```", b""]))
    assert read_text(file) == "```python\ntables = {}\n```\n"
