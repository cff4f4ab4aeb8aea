"""Checksums: md5sum, sha1sum, sha256sum and the like."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import partial

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

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
                run.out.append(_line(algorithm, path, _digest(algorithm, run, path), options))
        except Failed as failure:
            run.fail(failure.text)


def _digest(algorithm: str, run: Invocation, path: str) -> str:
    return hashlib.new(algorithm, run.read(path), usedforsecurity=False).hexdigest()


def _line(algorithm: str, path: str, digest: str, options: Mapping[str, str]) -> str:
    end = "\0" if "z" in options else "\n"
    if "tag" in options:
        return f"{_TITLES.get(algorithm, algorithm.upper())} ({path}) = {digest}{end}"
    return f"{digest} {'*' if 'b' in options else ' '}{path}{end}"


def _check(algorithm: str, run: Invocation, path: str, options: Mapping[str, str]) -> None:
    """Compare files with the checksums in a list."""
    expected = [*_expected(run.text(path))]
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


def _expected(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and checksums in a list."""
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            yield (match[2], match[1]) if match[1] else (match[4], match[5])


BODIES: Mapping[str, Body] = {name: partial(checksum, algorithm) for name, algorithm in _ALGORITHMS.items()}
