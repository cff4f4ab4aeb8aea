"""Bytes as digits: xxd, hexdump, od, and checksums such as md5sum and sha256sum."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

_PLAIN_WIDTH = 30  # bytes in a line of `xxd -p`
_MOST_COLUMNS = 256
"""The most bytes in a line of xxd."""


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
    if not 1 <= width <= _MOST_COLUMNS:
        raise Failed(f"xxd: invalid number of columns (max. {_MOST_COLUMNS}).\n")
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
        signs = [_ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"{byte:03o}") for byte in line]
        return f"{at:07x}" + "".join(f"{sign:>4}" for sign in signs).ljust(64) + "\n"
    words = [int.from_bytes(line[place : place + 2], "little") for place in range(0, len(line), 2)]
    return f"{at:07x}" + "".join(f"{'   ' if 'x' in options else ''} {word:04x}" for word in words).ljust(40) + "\n"


# od -------------------------------------------------------------------------------------------------------------------


_SHORT = {"a": "a", "b": "o1", "c": "c", "d": "u2", "f": "fF", "i": "dI", "l": "dL", "o": "o2", "s": "d2", "x": "x2"}
_TYPE = re.compile(r"([acdfoux])([0-9]+|[CSILFD])?(z?)")
_SIZES = {"C": 1, "S": 2, "I": 4, "L": 8, "F": 4, "D": 8}
_DIGITS: Mapping[str, Mapping[int, int]] = {
    "o": {1: 3, 2: 6, 4: 11, 8: 22}, "d": {1: 4, 2: 6, 4: 11, 8: 20}, "u": {1: 3, 2: 5, 4: 10, 8: 20},
    "x": {1: 2, 2: 4, 4: 8, 8: 16}, "f": {4: 15, 8: 24},
}  # fmt: skip
"""Type -> size -> the width of a value."""
_CODES = {("d", 1): "b", ("d", 2): "h", ("d", 4): "i", ("d", 8): "q", ("f", 4): "f", ("f", 8): "d"}
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_NAMES = (
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle",
    "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp",
)  # fmt: skip
_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_PRECISIONS = {4: (6, 1.1754943508222875e-38), 8: (15, 2.2250738585072014e-308)}
"""Size -> the digits that every number has, and the least normal one."""
_ADDRESSES = {"o": (7, "o"), "d": (7, "d"), "x": (6, "x")}
_WIDEST = 4096  # bytes of a line


@dataclass(slots=True)
class _Type:
    """A type of values: its letter, its size, and how wide a value is."""

    letter: str
    size: int
    width: int
    has_text: bool

    def show(self, data: bytes) -> str:
        if self.letter == "a":
            byte = data[0] & 0x7F
            return _NAMES[byte] if byte < len(_NAMES) else "del" if byte == 0x7F else chr(byte)
        if self.letter == "c":
            return _ESCAPES.get(data[0]) or (chr(data[0]) if 32 <= data[0] < 127 else f"{data[0]:03o}")
        value = struct.unpack(f"<{_CODES.get((self.letter, self.size), _UNSIGNED[self.size])}", data)[0]
        if self.letter == "f":
            return _shortest(value, self.size)
        return f"{value:0{self.width}{self.letter}}" if self.letter in "ox" else str(value)


def _shortest(value: float, size: int) -> str:
    """Return the shortest digits that are read as the same number."""
    if not math.isfinite(value):
        return str(value)
    code = _CODES["f", size]
    digits, least = _PRECISIONS[size]
    for precision in range(1 if abs(value) < least else digits, 18):
        text = f"{value:.{precision}g}"
        try:
            if struct.unpack(code, struct.pack(code, float(text)))[0] == value:
                return text
        except OverflowError:  # rounded up beyond the largest number
            continue
    return f"{value:.17g}"


def od(run: Invocation) -> None:
    pairs, paths = run.pairs(
        "abcdfilosxA:t:j:N:w::v",
        "address-radix:A format:t skip-bytes:j read-bytes:N width:w output-duplicates:v endian=",
    )
    options = dict(pairs)
    given = [_SHORT.get(name, value) for name, value in pairs if name in _SHORT or name == "t"]
    types = [kind for text in given or ["o2"] for kind in _types(text)]
    radix = (options.get("A") or "o")[:1]
    if radix not in (*_ADDRESSES, "n"):
        raise Failed(f"od: invalid output address radix '{radix}'; it must be one character from [doxn]\n")
    data = b""
    for path in paths or ["-"]:
        try:
            data += run.read(path)
        except Failed as failure:
            run.fail(failure.text)
    skipped = _amount(options.get("j", "0"))
    limit = options.get("N")
    if skipped > len(data):
        raise Failed("od: cannot skip past end of combined input\n")
    end = len(data) if limit is None else skipped + _amount(limit)
    step = math.lcm(*(kind.size for kind in types))
    wanted = options.get("w")
    width = 16 if wanted is None else _amount(wanted or "32")
    if not 0 < width <= _WIDEST or width % step:
        run.errors.append(f"od: warning: invalid width {width}; using {step} instead\n")
        width = step
    shows_all = "v" in options
    run.out += _lines(data[skipped:end], types, radix, skipped, width, shows_all=shows_all)


def _types(text: str) -> Iterator[_Type]:
    at = 0
    while at < len(text):
        match = _TYPE.match(text, at)
        if match is None:
            raise Failed(f"od: invalid character '{text[at]}' in type string '{text}'\n")
        at = match.end()
        letter, size_text, trailer = match[1], match[2] or "", bool(match[3])
        if letter in "ac":
            yield _Type(letter, 1, 3, trailer)
            at -= len(match[0]) - 1 - len(match[3]) if size_text else 0
            continue
        size = _SIZES.get(size_text) or int(size_text or (8 if letter == "f" else 4))
        if size not in _DIGITS[letter]:
            what = "floating point" if letter == "f" else "integral"
            raise Failed(f"od: invalid type string '{text}';\nthis system doesn't provide a {size}-byte {what} type\n")
        yield _Type(letter, size, _DIGITS[letter][size], trailer)


def _amount(text: str) -> int:
    match = re.fullmatch(r"(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})([bkKmM]?)B?", text)
    if match is None:
        raise Failed(f"od: invalid argument '{text}'\n")
    base = 16 if text.startswith("0x") else 8 if text.startswith("0") else 10
    return int(match[1], base) * {"b": 512, "k": 1024, "m": 1 << 20}.get(match[2].lower(), 1)


def _lines(
    data: bytes, types: Sequence[_Type], radix: str, start: int, width: int, *, shows_all: bool
) -> Iterator[str]:
    """Yield a line for each type and block of bytes, and the address of the end."""
    pad, form = _ADDRESSES.get(radix, (0, ""))
    row = max((kind.width + 1) * (width // kind.size) for kind in types)
    before, is_repeated = None, False
    for at in range(0, len(data), width):
        block = data[at : at + width]
        if block == before and len(block) == width and not shows_all:
            if not is_repeated:
                yield "*\n"
            is_repeated = True
            continue
        before, is_repeated = block, False
        for number, kind in enumerate(types):
            address = f"{start + at:0{pad}{form}}" if form and not number else " " * pad
            yield f"{address}{_line(block, kind, width, row)}\n"
    if form:
        yield f"{start + len(data):0{pad}{form}}\n"


def _line(block: bytes, kind: _Type, width: int, row: int) -> str:
    """Return a block as values of a type. Types of other widths are spread, so that the lines of all are aligned."""
    fields = width // kind.size
    padding = left = row - kind.width * fields
    text = ""
    for number in range(-(-len(block) // kind.size)):
        value = block[number * kind.size : (number + 1) * kind.size].ljust(kind.size, b"\0")
        following = padding * (fields - number - 1) // fields
        text += kind.show(value).rjust(kind.width + left - following)
        left = following
    if kind.has_text:
        text = f"{text.ljust(row)}  >{_readable(block)}<"
    return text


# checksums ------------------------------------------------------------------------------------------------------------


_ALGORITHMS = {
    "md5sum": "md5",
    "b2sum": "blake2b",
    **{f"sha{bits}sum": f"sha{bits}" for bits in (1, 224, 256, 384, 512)},
}
_TITLES = {"md5": "MD5", "blake2b": "BLAKE2b"}
_LINE = re.compile(r"\\?([0-9a-fA-F]+) [ *](.+)|([A-Z0-9a-z]+) \((.+)\) = ([0-9a-fA-F]+)")


def checksum(algorithm: str, run: Invocation) -> None:
    options, paths = run.options(
        "bctwz", "binary:b check:c tag text:t zero:z ignore-missing quiet status strict warn:w"
    )
    for path in paths or ["-"]:
        try:
            if "c" in options:
                _check(algorithm, run, path, options)
            else:
                run.out.append(_sum_line(algorithm, path, _digest(algorithm, run, path), options))
        except Failed as failure:
            run.fail(failure.text)


def _digest(algorithm: str, run: Invocation, path: str) -> str:
    return hashlib.new(algorithm, run.read(path), usedforsecurity=False).hexdigest()


def _sum_line(algorithm: str, path: str, digest: str, options: Mapping[str, str]) -> str:
    end = "\0" if "z" in options else "\n"
    if "tag" in options:
        return f"{_TITLES.get(algorithm, algorithm.upper())} ({path}) = {digest}{end}"
    return f"{digest} {'*' if 'b' in options else ' '}{path}{end}"


def _check(algorithm: str, run: Invocation, path: str, options: Mapping[str, str]) -> None:
    """Compare files with the checksums in a list."""
    matches = filter(None, map(_LINE.fullmatch, run.text(path).splitlines()))
    expected = [(match[2], match[1]) if match[1] else (match[4], match[5]) for match in matches]
    if not expected:
        raise Failed(f"{run.name}: {path}: no properly formatted checksum lines found\n")
    is_silent, is_quiet = "status" in options, bool(options.keys() & {"status", "quiet"})
    wrong = missing = 0
    for name, digest in expected:
        try:
            fits = _digest(algorithm, run, name) == digest.lower()
        except Failed as failure:
            if "ignore-missing" not in options:
                run.errors.append(failure.text)
                run.out += [] if is_silent else [f"{name}: FAILED open or read\n"]
                missing += 1
            continue
        wrong += not fits
        run.out += [] if is_silent or (fits and is_quiet) else [f"{name}: {'OK' if fits else 'FAILED'}\n"]
    if missing and not is_silent:
        run.errors.append(f"{run.name}: WARNING: {missing} listed file{'s'[: missing > 1]} could not be read\n")
    if wrong and not is_silent:
        run.errors.append(f"{run.name}: WARNING: {wrong} computed checksum{'s'[: wrong > 1]} did NOT match\n")
    run.code = max(run.code, int(bool(wrong or missing)))


BODIES: Mapping[str, Body] = {
    "xxd": xxd, "hexdump": hexdump, "od": od,
    **{name: partial(checksum, algorithm) for name, algorithm in _ALGORITHMS.items()},
}  # fmt: skip
