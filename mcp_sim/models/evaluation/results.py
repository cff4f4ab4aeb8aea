"""What was foretold and judged so far? Two JSONL files in a folder; every line is written when its sample is done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_text import encode


@dataclass(slots=True)
class Results:
    """The results of one kind, by sample: the newest line of each. Failures are lines too, and are tried again."""

    path: Path
    by: str
    """The model that they are from."""
    lines: dict[str, Record] = field(default_factory=dict[str, Record])

    @classmethod
    def opened(cls, path: Path, by: str) -> Self:
        """The results in a file, of one model. Raises UsageError where they are another one's."""
        lines = _read(path)
        others = {str(line.get("by")) for line in lines.values()} - {by}
        if others:
            raise UsageError(f"{path} holds results of {', '.join(sorted(others))}; choose another --out")
        return cls(path, by, lines)

    def done(self, sample: str, digest: str) -> Record | None:
        """The result of a sample; None where there is none, where it failed, or where it was about something else."""
        line = self.lines.get(sample)
        return line if line is not None and line.get("digest") == digest and "failed" not in line else None

    def keep(self, sample: str, digest: str, result: Record) -> Record:
        """Write down what came of a sample."""
        line = {"sample": sample, "digest": digest, "by": self.by, **result}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as stream:
            stream.write(encode(line) + b"\n")
        self.lines[sample] = line
        return line


def _read(path: Path) -> dict[str, Record]:
    """The newest line of each sample; one that was not written to its end is cut off."""
    try:
        data = path.read_bytes() if path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("r+b") as stream:
                stream.truncate(whole)
        lines = [as_object(json.loads(line)) for line in data[:whole].splitlines() if line.strip()]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: is no file of results: {error}") from None
    return {str(line.get("sample")): line for line in lines}
