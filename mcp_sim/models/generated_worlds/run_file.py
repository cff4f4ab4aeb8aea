"""The file of an unfinished run: one line per batch, written when the batch is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Self

from mcp_sim.types import Json, Record, as_list, as_object, decode, encode, frozen
from mcp_sim.types.errors import UsageError

FORMAT = 1  # a file of another version is refused rather than continued wrongly


@frozen
class Batch:
    """The result of one batch: the model's rows, with None for each that has to be generated without it.

    `asked` counts the requests, `refused` the rejected rows. `problem` is the first problem.
    """

    entity: str
    first: int
    rows: tuple[Record | None, ...]
    asked: int
    refused: int
    problem: str = ""


@dataclass(slots=True)
class RunFile:
    """The batches of a run so far, in a file beside its output. `run` identifies the world that is generated."""

    path: Path
    stream: BinaryIO
    kept: dict[tuple[str, int], Batch] = field(default_factory=dict[tuple[str, int], Batch])

    @classmethod
    def open(cls, path: Path, run: Record, *, resume: bool) -> Self:
        """Open the file and read its batches.

        Raises `UsageError` if it belongs to another run, if it exists without `resume`, or if it cannot be written.
        """
        try:
            lines, length = _written(path)
            if lines and not resume:
                raise UsageError(f"{path} has an unfinished run: continue it with --resume, or remove the file")
            wanted = {"format": FORMAT, **run}
            other = [name for name in wanted if lines and lines[0].get(name) != wanted[name]]
            if other:
                differences = ", ".join(f"{name} {lines[0].get(name)!r} instead of {wanted[name]!r}" for name in other)
                advice = "remove the file, or use the options of that run"
                raise UsageError(f"{path} belongs to another run ({differences[:300]}); {advice}")
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("r+b" if lines else "wb")
            stream.truncate(length)
            stream.seek(length)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
        batches = [_batch(line) for line in lines[1:]]
        run_file = cls(path, stream, {(batch.entity, batch.first): batch for batch in batches})
        if not lines:
            run_file._write({"format": FORMAT, **run})
        return run_file

    def keep(self, batch: Batch) -> None:
        """Write a batch at once, so that it survives a crash."""
        self.kept[batch.entity, batch.first] = batch
        self._write({**asdict(batch), "rows": list(batch.rows)})

    def close(self) -> None:
        """Close the file. Without a batch it is removed: there is nothing to continue."""
        if self.kept:
            self.stream.close()
        else:
            self.remove()

    def remove(self) -> None:
        """Remove the file of a run that is finished, or has not begun."""
        self.stream.close()
        self.path.unlink(missing_ok=True)

    def _write(self, line: Record) -> None:
        self.stream.write(encode(line) + b"\n")
        self.stream.flush()


def _written(path: Path) -> tuple[list[Record], int]:
    """Return the complete lines, and their size in bytes."""
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


def _batch(line: Record) -> Batch:
    rows = tuple(None if row is None else as_object(row) for row in as_list(line["rows"]))
    return Batch(line["entity"], line["first"], rows, line["asked"], line["refused"], line["problem"])
