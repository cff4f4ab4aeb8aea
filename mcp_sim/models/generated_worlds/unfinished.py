"""What did a run that was ended leave behind? A line per batch, each written when the batch is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Self

from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import decode, encode

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of one batch: the rows that the model said, None for each that somebody else has to make up.

    `asked` counts the requests, `refused` the rows that could not be used, and `problem` is what was wrong first.
    """

    entity: str
    first: int
    rows: tuple[Record | None, ...]
    asked: int
    refused: int
    problem: str = ""


@dataclass(slots=True)
class Unfinished:
    """The batches of a run so far, in a file beside its output. Of two runs of the same world, `run` is the same."""

    path: Path
    stream: BinaryIO
    kept: dict[tuple[str, int], Batch] = field(default_factory=dict[tuple[str, int], Batch])

    @classmethod
    def opened(cls, path: Path, run: Record, *, resume: bool) -> Self:
        """The file, with what it holds. Raises UsageError where it is another run, or none is to be gone on with."""
        try:
            lines, length = _written(path)
            if lines and not resume:
                raise UsageError(f"{path} holds a run that was not finished: go on with --resume, or remove the file")
            _check(path, run, lines)
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("r+b" if lines else "wb")
            stream.truncate(length)
            stream.seek(length)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
        batches = [_batch(line) for line in lines[1:]]
        found = cls(path, stream, {(batch.entity, batch.first): batch for batch in batches})
        if not lines:
            found._write({"format": FORMAT, **run})
        return found

    def keep(self, batch: Batch) -> None:
        """Write a batch, so that it is there whatever happens next."""
        self.kept[batch.entity, batch.first] = batch
        self._write({**asdict(batch), "rows": list(batch.rows)})

    def close(self) -> None:
        self.stream.close()

    def remove(self) -> None:
        """The run is finished."""
        self.stream.close()
        self.path.unlink(missing_ok=True)

    def _write(self, line: Record) -> None:
        self.stream.write(encode(line) + b"\n")
        self.stream.flush()


def _written(path: Path) -> tuple[list[Record], int]:
    """The lines that were written to their end, and how many bytes they are."""
    lines, length = list[Record](), 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        try:
            value: Json = decode(line)
        except ValueError:
            break
        if not line.endswith(b"\n") or not isinstance(value, dict):
            break
        lines.append(as_object(value))
        length += len(line)
    return lines, length


def _check(path: Path, run: Record, lines: list[Record]) -> None:
    """Is it the same run that is gone on with?"""
    wanted = {"format": FORMAT, **run}
    other = [name for name in wanted if lines and lines[0].get(name) != wanted[name]]
    if other:
        told = ", ".join(f"{name} {lines[0].get(name)!r} instead of {wanted[name]!r}" for name in other)
        raise UsageError(
            f"{path} belongs to another run ({told[:300]}); remove the file, or give what it was begun with"
        )


def _batch(line: Record) -> Batch:
    rows = tuple(None if row is None else as_object(row) for row in as_list(line["rows"]))
    return Batch(line["entity"], line["first"], rows, line["asked"], line["refused"], line["problem"])
