"""Files that commands write."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mcp_sim.cli.files import replace_file


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
