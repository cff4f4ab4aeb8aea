"""Bytes as digits: xxd, hexdump."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

_PLAIN_WIDTH = 30  # bytes in a line of `xxd -p`
_WIDEST = 256
"""The most bytes in a line of xxd."""
_NAMES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def xxd(run: Invocation) -> None:
    words = ["-p" if word in ("-ps", "-plain", "-postscript") else word for word in run.arguments]
    run.arguments = ["-r" if word == "-revert" else word for word in words]
    options, paths = run.options("prul:s:c:g:bi")
    try:
        data = run.read(paths[0] if paths else "-")
    except Failed:
        raise Failed(f"xxd: {paths[0]}: No such file or directory\n", 2) from None
    if "r" in options:
        _reverted(
            run, data.decode("utf-8", "replace"), is_plain="p" in options, target=paths[1] if len(paths) > 1 else ""
        )
        return
    start = int(options.get("s", "0"), 0)
    data = data[start:][: int(options["l"], 0) if "l" in options else None]
    shown = _plain(data, int(options.get("c", _PLAIN_WIDTH))) if "p" in options else _columns(data, options, start)
    text = "".join(shown)
    text = text.upper() if "u" in options and "p" in options else text
    if len(paths) > 1:
        run.fs.write_file(run.place(paths[1]), text.encode())
    else:
        run.out.append(text)


def _plain(data: bytes, width: int) -> Iterator[str]:
    width = width or len(data) or 1
    for at in range(0, len(data), width):
        yield data[at : at + width].hex() + "\n"


def _columns(data: bytes, options: Mapping[str, str], start: int) -> Iterator[str]:
    width, group = int(options.get("c", "16")), int(options.get("g", "2")) or 16
    if not 1 <= width <= _WIDEST:
        raise Failed(f"xxd: invalid number of columns (max. {_WIDEST}).\n")
    full = width * 2 + (width - 1) // group
    for at in range(0, len(data), width):
        line = data[at : at + width]
        digits = line.hex().upper() if "u" in options else line.hex()
        groups = " ".join(digits[place : place + 2 * group] for place in range(0, len(digits), 2 * group))
        yield f"{start + at:08x}: {groups:<{full}}  {_readable(line)}\n"


def _readable(line: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)


def _reverted(run: Invocation, text: str, *, is_plain: bool, target: str) -> None:
    """Turn a dump into bytes, to a file or to the output."""
    lines = text.splitlines()
    digits = lines if is_plain else [re.sub(r"^[0-9a-fA-F]+:\s*", "", line).partition("  ")[0] for line in lines]
    plain = re.sub(r"[^0-9a-fA-F]", "", "".join(digits))
    data = bytes.fromhex(plain[: len(plain) // 2 * 2])
    if target:
        run.fs.write_file(run.place(target), data)
    else:
        run.write(data)


def hexdump(run: Invocation) -> None:
    options, paths = run.options("Ccn:s:vxb")
    data = b"".join(run.read(path) for path in paths or ["-"])
    data = data[int(options.get("s", "0"), 0) :][: int(options["n"], 0) if "n" in options else None]
    if not data:
        return
    before = b""
    is_left_out = False
    for at in range(0, len(data), 16):
        line = data[at : at + 16]
        if line == before and "v" not in options:  # equal lines are shown once
            run.out += [] if is_left_out else ["*\n"]
            is_left_out = True
            continue
        before, is_left_out = line, False
        run.out.append(_dumped(line, at, options))
    run.out.append(f"{len(data):0{8 if 'C' in options else 7}x}\n")


def _dumped(line: bytes, at: int, options: Mapping[str, str]) -> str:
    if "C" in options:
        halves = [" ".join(f"{byte:02x}" for byte in half) for half in (line[:8], line[8:])]
        return f"{at:08x}  {halves[0]:<23}  {halves[1]:<23}  |{_readable(line)}|\n"
    if "c" in options:
        signs = [_NAMES.get(byte, chr(byte) if 32 <= byte < 127 else f"{byte:03o}") for byte in line]
        return f"{at:07x}" + "".join(f"{sign:>4}" for sign in signs).ljust(64) + "\n"
    words = [int.from_bytes(line[place : place + 2], "little") for place in range(0, len(line), 2)]
    return f"{at:07x}" + "".join(f"{'   ' if 'x' in options else ''} {word:04x}" for word in words).ljust(40) + "\n"


BODIES: Mapping[str, Body] = {"xxd": xxd, "hexdump": hexdump}
