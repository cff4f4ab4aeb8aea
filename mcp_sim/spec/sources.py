"""Which files does a document consist of? Files by path, or what ships by name; each is read once, and summed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from mcp_sim.spec import yaml12
from mcp_sim.spec.places import Place
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean

SUFFIXES = (".yaml", ".yml", ".json")
END = 1 << 62
"""Problems of a file as a whole come after those of its lines."""

TOOL_LIST = ".tools.json"
"""How the names of tools/list results end that belong to a tool spec."""

_PACKAGE = Path(__file__).parents[1]


def shipped(folder: str) -> Mapping[str, Path]:
    """The documents of a folder (`scenarios`, `tool_specs`) that come with mcp-sim, by the stem of their file."""
    installed = _PACKAGE / "_shipped" / folder
    home = installed if installed.is_dir() else _PACKAGE.parent / folder
    if not home.is_dir():
        return {}
    return {path.stem: path for path in sorted(home.iterdir()) if path.suffix in SUFFIXES and not _is_tool_list(path)}


def locate(reference: str | Path) -> Path:
    """The file of a scenario or tool spec: a path, or a shipped name. Raises UsageError where there is none."""
    path = Path(reference)
    if is_readable(path):
        return path
    names = {**shipped("tool_specs"), **shipped("scenarios")}
    if str(reference) in names:
        return names[str(reference)]
    if is_folder(path):
        raise UsageError(f"{reference}: is a folder, not a document")
    if is_file_name(str(reference)):
        meant = f"; {path.stem!r} ships, and needs no path" if path.stem in names else ""
        raise UsageError(f"{reference}: there is no such file{meant}")
    hint = did_you_mean(str(reference), names)
    raise UsageError(f"{reference}: there is no such file, and nothing of this name ships{hint}")


def is_readable(path: Path) -> bool:
    """Is there something to read: a file, or a pipe as a shell's `<(...)` gives one?"""
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a name that no file can have
        return False


def is_folder(path: Path) -> bool:
    """Is it a folder, and not the name of something that ships?"""
    try:
        return path.is_dir() and str(path) not in {*shipped("scenarios"), *shipped("tool_specs")}
    except OSError:
        return False


def is_file_name(value: str) -> bool:
    """Does a value name a file, rather than something that ships?"""
    return "/" in value or "\\" in value or Path(value).suffix != ""


def documents_in(folder: Path) -> list[Path]:
    """The scenarios and tool specs in a folder and below it: files that say `mcp_sim` and end like a document."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return [path for path in found if not _is_tool_list(path) and b"mcp_sim" in _beginning(path)]


class Reading:
    """The files that were read for one scenario, and every problem found in them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.files: list[Path] = []
        self._sum = sha256()

    @property
    def sha256(self) -> str:
        """Over the bytes of all files, in the order of reading."""
        return self._sum.hexdigest()

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return sum(problem.severity == "error" for problem in self.problems)

    @property
    def has_failed(self) -> bool:
        return self.errors > 0

    def sorted(self) -> list[Problem]:
        """Every problem once, by line; the file that was the first to have one comes first."""
        files = list(dict.fromkeys(problem.file for problem in self.problems))
        once = dict.fromkeys(self.problems)
        return sorted(once, key=lambda problem: (files.index(problem.file), problem.line or END))

    def open(self, path: Path) -> Place | None:
        """The root of a document; None, with the problem noted, where it cannot be read."""
        file = display(path)
        data = self.bytes_of(path)
        if data is None:
            return None
        try:
            document = yaml12.load(data, file)
        except DocumentError as error:
            self.problems.extend(error.problems)
            return None
        return Place(document, self.problems, document.value)

    def bytes_of(self, path: Path) -> bytes | None:
        """What is in a file; None, with the problem noted, where it cannot be read or is too large."""
        try:
            with path.open("rb") as stream:
                data = stream.read(yaml12.LARGEST + 1)
        except OSError as error:
            self.problems.append(Problem(display(path), 0, "", f"cannot be read: {error.strerror}"))
            return None
        self.files.append(path)
        self._sum.update(data)
        if len(data) > yaml12.LARGEST:
            self.problems.append(Problem(display(path), 0, "", f"is larger than {yaml12.LARGEST >> 20} MiB"))
            return None
        return data


def display(path: Path) -> str:
    """A path as problems name it: from the working directory where it is below it."""
    if not path.is_absolute():
        return str(path)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _is_tool_list(path: Path) -> bool:
    return path.name.endswith(TOOL_LIST)


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(1 << 16)
    except OSError:
        return b"mcp_sim"  # so that it is looked at, and what is wrong with it told
