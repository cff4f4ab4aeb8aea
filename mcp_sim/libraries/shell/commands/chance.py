"""Commands that draw at random: shuf, mktemp, uuidgen."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_letters, digits
from uuid import UUID

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, is_number

_MOST = 100_000  # lines, as many as other commands of the interpreter print


def shuf(run: Invocation) -> None:
    options, rest = run.options("n:i:er", "head-count:n input-range:i echo:e repeat:r")
    span = options.get("i")
    if span is not None:
        low, _, high = span.partition("-")
        if not (is_number(low) and is_number(high)):
            raise Failed(f"shuf: invalid input range: '{span}'\n")
        lines = [str(number) for number in range(int(low), min(int(high), int(low) + _MOST) + 1)]
    elif "e" in options:
        lines = rest
    else:
        lines = run.text(rest[0] if rest else "-").splitlines()
    count = options.get("n")
    if count is not None and not is_number(count):
        raise Failed(f"shuf: invalid line count: '{count}'\n")
    if "r" in options:
        lines = [run.chance.choice(lines) for _ in range(min(int(count or 0), _MOST))] if lines else []
    else:
        run.chance.shuffle(lines)
    run.out += [f"{line}\n" for line in lines[: None if count is None else int(count)]]


def mktemp(run: Invocation) -> None:
    options, rest = run.options("dqtup:", "directory:d tmpdir:p suffix= dry-run:u")
    template = rest[0] if rest else "tmp.XXXXXXXXXX"
    stem = template.rstrip("X")
    if len(template) - len(stem) < 3:
        raise Failed(f"mktemp: too few X's in template '{template}'\n")
    usual = "/tmp" if not rest or "t" in options else ""  # noqa: S108 (a folder of the simulated files, not of the host)
    folder = options.get("p", usual)
    name = stem + "".join(run.chance.choices(ascii_letters + digits, k=len(template) - len(stem)))
    path = f"{folder.rstrip('/')}/{name}" if folder else name
    path += options.get("suffix", "")
    if run.look(path.rpartition("/")[0] or ".") is None:
        raise Failed(f"mktemp: failed to create file via template '{template}': No such file or directory\n")
    if "d" in options:
        run.fs.mkdir(run.place(path))
        run.fs.chmod(run.place(path), 0o700)
    elif "u" not in options:
        run.fs.write_file(run.place(path), b"")
        run.fs.chmod(run.place(path), 0o600)
    run.out.append(f"{path}\n")


def uuidgen(run: Invocation) -> None:
    run.out.append(f"{UUID(int=run.chance.getrandbits(128), version=4)}\n")


BODIES: Mapping[str, Body] = {"shuf": shuf, "mktemp": mktemp, "uuidgen": uuidgen}
