"""tar, xz and zcat. gzip and bzip2 are those of the interpreter.

tar goes in the order of names: what the interpreter has has an order of its own at every run.
"""

from __future__ import annotations

import bz2
import io
import lzma
import posixpath
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from gzip import GzipFile
from io import BytesIO
from lzma import LZMAError
from typing import Any

from mcp_sim.libraries.patterns import PatternError, substituted
from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, Node
from mcp_sim.libraries.shell.commands.listing import mode_text

LARGEST = 32 << 20
"""The largest content that is unpacked, in bytes: half of what a world may hold."""
ENDINGS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz"}
_STARTS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def packed(data: bytes, kind: str) -> bytes:
    """Return compressed bytes, the same in every run."""
    if kind == "gzip":
        buffer = BytesIO()
        with GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
            file.write(data)
        return buffer.getvalue()
    return bz2.compress(data) if kind == "bzip2" else lzma.compress(data)


def unpacked(data: bytes) -> bytes | None:
    """Return decompressed bytes, or None if they are too large. Other bytes are returned as they are.

    Raises `EOFError`, `OSError` or `LZMAError` for damaged ones.
    """
    kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), None)
    if kind is None:
        return data
    openers: Mapping[str, Any] = {"gzip": GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}
    file = GzipFile(fileobj=BytesIO(data)) if kind == "gzip" else openers[kind](BytesIO(data))
    with file:
        plain = file.read(LARGEST + 1)
    return None if len(plain) > LARGEST else plain


def compress(kind: str, run: Invocation, *, unpacks: bool = False, prints: bool = False) -> None:
    """Compress or unpack files or stdin."""
    options, paths = run.options("dkcfvqtz0123456789eT:", "decompress:d keep:k stdout:c to-stdout:c force:f verbose:v")
    unpacks = unpacks or "d" in options
    prints = prints or "c" in options
    for path in paths or ["-"]:
        ending = ENDINGS[kind]
        data = run.read(path)
        if unpacks and path != "-" and not prints and not path.endswith(ending):
            run.fail(f"{run.name}: {path}: unknown suffix -- ignored\n", 2)
            continue
        try:
            result = unpacked(data) if unpacks else packed(data, kind)
        except (OSError, EOFError, lzma.LZMAError):
            run.fail(f"{run.name}: {path}: not in {kind} format\n")
            continue
        if result is None:
            raise Failed(f"{run.name}: {path}: No space left on device\n")
        if prints or path == "-":
            run.write(result)
            continue
        place = run.place(path)
        run.fs.write_file(place.removesuffix(ending) if unpacks else place + ending, result)
        if "k" not in options:
            run.fs.remove(place)


_CAT = {"unpacks": True, "prints": True}


_LONG = (
    "create:c extract:x get:x list:t verbose:v gzip:z bzip2:j xz:J append:r update:u file:f directory:C exclude= "
    "transform= xform= strip-components= owner= group= preserve-permissions:p absolute-names:P keep-old-files:k "
    "overwrite no-same-owner to-stdout:O"
)
_COMPRESSIONS = {"z": "gzip", "j": "bzip2", "J": "xz"}
_USAGE = "Try 'tar --help' or 'tar --usage' for more information.\n"
_GIVES_UP = "tar: Error is not recoverable: exiting now\n"
_INVALID = f"tar: Invalid transform expression\n{_USAGE}"
_FULL = f"tar: Cannot write: No space left on device\n{_GIVES_UP}"
_FAILED = "tar: Exiting with failure status due to previous errors\n"
_LONGEST_TRANSFORM = 200  # characters
_SUBSTITUTION = re.compile(r"s(.)(.*?)\1(.*?)\1([gi]*)$")


def tar(run: Invocation) -> None:
    if run.arguments and not run.arguments[0].startswith("-"):  # as in `tar xzf`
        run.arguments[0] = f"-{run.arguments[0]}"
    if "--version" in run.arguments:
        run.out.append("tar (GNU tar) 1.34\n")
        return
    excluded = [word.partition("=")[2].strip("'\"") for word in run.arguments if word.startswith("--exclude=")]
    try:
        options, names = run.options("cxtvzjJf:C:prukOhPaWSm", _LONG)
    except Failed as failure:
        raise Failed(failure.text.partition("\n")[0] + f"\n{_USAGE}", 64) from None
    modes = options.keys() & {"c", "x", "t"}
    if not modes:
        raise Failed(f"tar: You must specify one of the '-Acdtrux', '--delete' or '--test-label' options\n{_USAGE}", 2)
    archive = _Archive(run, options, excluded)
    {"c": archive.create, "x": archive.extract, "t": archive.show}[modes.pop()](names)


class _Archive:
    """One run of tar."""

    def __init__(self, run: Invocation, options: Mapping[str, str], excluded: Sequence[str]) -> None:
        self._run, self._flags, self._excluded = run, options.keys(), excluded
        self._file = options.get("f", "-")
        self._folder = run.place(options.get("C", "."))
        self._strip = int(options.get("strip-components", "0") or 0)
        rename = options.get("transform", options.get("xform", ""))
        if len(rename) > _LONGEST_TRANSFORM:
            raise Failed(_INVALID, 2)
        self._rename = _SUBSTITUTION.match(rename)
        if run.look(self._folder, follow=True) is None:
            raise Failed(f"tar: {options.get('C')}: Cannot open: No such file or directory\n{_GIVES_UP}", 2)

    # writing

    def create(self, names: Sequence[str]) -> None:
        if not names:
            raise Failed(f"tar: Cowardly refusing to create an empty archive\n{_USAGE}", 2)
        target = self._run.place(self._file)
        if self._file != "-" and self._run.look(posixpath.dirname(target), follow=True) is None:
            who = "tar (child)" if self._flags & {"z", "j", "J"} else "tar"
            problem = f"{who}: {self._file}: Cannot open: No such file or directory"
            raise Failed(f"{problem}\n{who}: Error is not recoverable: exiting now\n", 2)
        buffer, warned = io.BytesIO(), False
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name in names:
                if name.startswith("/") and "P" not in self._flags and not warned:
                    self._run.errors.append("tar: Removing leading `/' from member names\n")
                    warned = True
                path = posixpath.normpath(posixpath.join(self._folder, name))
                node = self._run.look(path)
                if node is None:
                    self._run.fail(f"tar: {name}: Cannot stat: No such file or directory\n", 2)
                    continue
                for shown, inner in self._below(name, node):
                    if inner.path != target:
                        self._add(archive, shown, inner)
        if self._run.code:
            self._run.errors.append(_FAILED)
        data = buffer.getvalue()
        by_ending = [kind for kind, ending in ENDINGS.items() if "a" in self._flags and self._file.endswith(ending)]
        kinds = [kind for flag, kind in _COMPRESSIONS.items() if flag in self._flags] or by_ending
        data = packed(data, kinds[0]) if kinds else data
        if self._file != "-":
            self._run.fs.write_file(target, data)
        else:
            self._run.write(data)

    def _below(self, name: str, node: Node) -> Iterator[tuple[str, Node]]:
        """Yield what is at and below a path, under its name in the archive."""
        if any(_excludes(pattern, name.strip("/")) for pattern in self._excluded):
            return
        yield f"{name.rstrip('/')}/" if node.is_directory else name, node
        if node.is_directory:
            for child in self._run.list(node.path):
                yield from self._below(f"{name.rstrip('/')}/{child.name}", child)

    def _add(self, archive: tarfile.TarFile, name: str, node: Node) -> None:
        plain = name if "P" in self._flags else name.lstrip("/")
        member = tarfile.TarInfo(self._renamed(plain).rstrip("/") or ".")
        member.mode, member.mtime = node.mode, int(node.modified.timestamp())
        member.uname = member.gname = "root"
        if self._flags & {"v"}:
            self._run.out.append(f"{name}\n")
        if node.is_directory:
            member.type = tarfile.DIRTYPE
            archive.addfile(member)
        elif node.is_link:
            member.type, member.linkname = tarfile.SYMTYPE, node.target
            archive.addfile(member)
        else:
            data = self._run.fs.read_file(node.path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

    def _renamed(self, name: str) -> str:
        if self._rename is None:
            return name
        _, pattern, replacement, marks = self._rename.groups()
        try:
            return substituted(pattern, replacement.replace("&", r"\g<0>"), name, count=0 if "g" in marks else 1)
        except PatternError:
            raise Failed(_INVALID, 2) from None

    # reading

    def show(self, names: Sequence[str]) -> None:
        for member, _ in self._members(names):
            shown = f"{member.name}/" if member.isdir() else member.name
            if "v" in self._flags:
                kind = "directory" if member.isdir() else "symlink" if member.issym() else "file"
                node = Node(member.name, kind, member.mode, member.size, self._run.now)
                moment = self._run.now.fromtimestamp(member.mtime, self._run.now.tzinfo)
                shown = f"{mode_text(node)} root/root {member.size:>9} {moment:%Y-%m-%d %H:%M} {shown}"
            self._run.out.append(f"{shown}\n")

    def extract(self, names: Sequence[str]) -> None:
        for member, data in self._members(names):
            parts = [step for step in member.name.split("/") if step not in ("", ".")][self._strip :]
            if ".." in parts:
                self._run.fail(f"tar: {member.name}: Member name contains '..'\n", 2)
                continue
            if not parts:
                continue
            if "v" in self._flags:
                self._run.out.append(f"{member.name}{'/' if member.isdir() else ''}\n")
            if "O" in self._flags:
                self._run.write(data)
            else:
                self._put(posixpath.join(self._folder, *parts), member, data)

    def _put(self, path: str, member: tarfile.TarInfo, data: bytes) -> None:
        fs = self._run.fs
        folder = path if member.isdir() else posixpath.dirname(path)
        if not fs.exists(folder):
            fs.mkdir(folder, True)
        if member.issym():
            if self._run.look(path) is not None:
                fs.remove(path)
            fs.symlink(member.linkname, path)
        elif not member.isdir():
            fs.write_file(path, data)
            fs.chmod(path, member.mode & 0o777)
        if not member.issym() and "m" not in self._flags:
            self._run.date(path, datetime.fromtimestamp(member.mtime, UTC))

    def _members(self, names: Sequence[str]) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        """Yield the chosen members of the archive, with the contents of files."""
        try:
            data = self._run.read(self._file)
        except Failed:
            raise Failed(f"tar: {self._file}: Cannot open: No such file or directory\n{_GIVES_UP}", 2) from None
        wanted = [name.rstrip("/") for name in names]
        missing, size = {*wanted}, 0
        try:
            plain = unpacked(data)
            if plain is None:
                raise Failed(_FULL, 2)
            with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
                for member in archive:
                    hits = {name for name in wanted if member.name == name or member.name.startswith(f"{name}/")}
                    missing -= hits
                    if wanted and not hits:
                        continue
                    if any(_excludes(pattern, member.name) for pattern in self._excluded):
                        continue
                    size += max(0, member.size)  # as declared: a sparse file may have more than the archive
                    if size > LARGEST:
                        raise Failed(_FULL, 2)
                    file = archive.extractfile(member) if member.isfile() else None
                    yield member, b"" if file is None else file.read()
        except (tarfile.TarError, OSError, EOFError, LZMAError):
            raise Failed(f"tar: This does not look like a tar archive\n{_FAILED}", 2) from None
        for name in sorted(missing):
            self._run.fail(f"tar: {name}: Not found in archive\n", 2)


def _excludes(pattern: str, name: str) -> bool:
    """Return whether a pattern excludes a name: as a whole, or from any of its parts on."""
    parts = name.split("/")
    return any(fnmatchcase("/".join(parts[at:]), pattern.strip("/")) for at in range(len(parts)))


BODIES: Mapping[str, Body] = {
    "tar": tar,
    "xz": partial(compress, "xz"),
    "unxz": partial(compress, "xz", unpacks=True),
    "xzcat": partial(compress, "xz", **_CAT),
    "zcat": partial(compress, "gzip", **_CAT),
}
