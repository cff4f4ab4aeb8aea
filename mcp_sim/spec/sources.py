"""The files that documents consist of: found by path or shipped name, read once, and hashed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from shlex import quote

from mcp_sim.spec import yaml12
from mcp_sim.spec.places import Place
from mcp_sim.spec.trust import Trust, is_below, is_beside, is_inside, is_special, read_regular
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean

SUFFIXES = (".yaml", ".yml", ".json")
END = 1 << 62
"""Sort key of problems without a line: they come after those with one."""

TOOL_LIST = ".tools.json"
"""The suffix of files with a tools/list result that belong to a tool spec."""

MOST_FILES = 1_000  # a folder given by mistake, such as a home folder, is not read as a whole
LARGEST_TOTAL = 4 * yaml12.LARGEST
"""The largest size of all files that a document consists of, in bytes."""

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = ("scenarios", "tool_specs", "presets")


@cache
def shipped(folder: str) -> Mapping[str, Path]:
    """Return the documents that ship with mcp-sim in a folder (`scenarios`, `tool_specs`, `presets`), by file stem.

    Each service has a folder of its own among the tool specs.
    """
    pattern = "*/*.yaml" if folder == "tool_specs" else "*.yaml"
    return {path.stem: path for path in sorted(_home(folder).glob(pattern), key=lambda path: path.stem)}


def _home(folder: str) -> Path:
    installed = _PACKAGE / "_shipped" / folder
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def locate(reference: str | Path) -> Path:
    """Return the file of a scenario or tool spec, given a path or a shipped name. Raises `UsageError` without one."""
    path = Path(reference)
    if is_readable(path):
        return path
    names = {**shipped("tool_specs"), **shipped("scenarios")}
    if str(reference) in names:
        return names[str(reference)]
    if is_folder(path):
        raise UsageError(f"{reference}: is a folder, not a document")
    if is_file_name(str(reference)):
        hint = f"; {path.stem!r} ships with mcp-sim, use it without a path" if path.stem in names else _near_file(path)
        raise UsageError(f"{reference}: file not found{hint}")
    hint = did_you_mean(str(reference), names)
    raise UsageError(f"{reference}: no such file or shipped document{hint}")


def _near_file(path: Path) -> str:
    """Return the document beside a missing file that has nearly its name, as an appendix to a message; '' without."""
    try:
        beside = {file.stem: file for file in islice(path.parent.iterdir(), MOST_FILES) if file.suffix in SUFFIXES}
    except OSError:
        return ""
    near = get_close_matches(path.stem, beside, n=1, cutoff=0.6)
    return f"; did you mean {str(beside[near[0]])!r}?" if near else ""


def is_readable(path: Path) -> bool:
    """Whether there is a file to read, or a pipe such as a shell's `<(...)`."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a name that no file can have
        return False


def is_folder(path: Path) -> bool:
    """Whether it is a folder, and not the name of a shipped document."""
    try:
        return path.is_dir() and str(path) not in {*shipped("scenarios"), *shipped("tool_specs")}
    except OSError:
        return False


def is_file_name(value: str) -> bool:
    """Whether a value names a file rather than a shipped document."""
    return "/" in value or "\\" in value or Path(value).suffix != ""


def documents_in(folder: Path) -> list[Path]:
    """Return the documents in a folder and its subfolders: files with a document's suffix that mention `mcp_sim`."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return [path for path in paths if not path.name.endswith(TOOL_LIST) and b"mcp_sim" in _first_bytes(path)]


class Sources:
    """The files that were read for one document, and every problem found in them.

    The first file is the one that the user has named. It may be a pipe; those that documents name are regular files.
    """

    def __init__(self, trust: Trust | None = None, *, asks: bool = False, is_asked_for: bool = False) -> None:
        self.is_asked_for = is_asked_for
        """Whether the documents are read only to show what they would do with the user's trust."""
        self.asks = asks
        """Whether the live servers that trusted documents name are asked for their tools."""
        self.problems: list[Problem] = []
        self.files: list[Path] = []
        self.actions: list[Problem] = []
        """What the documents do only if the user trusts them."""
        self.untrusted: list[Problem] = []
        """Those of the actions that the user does not trust them with. They are refused when a world is opened."""
        self.relying: list[Path] = []
        """The documents that do what needs the user's trust, without those that ship."""
        self.tool_lists: list[list[Place]] = []
        """The tools of each server."""
        self.beyond: list[Path] = []
        """The files outside the folder of the first one, without those that ship."""
        self._trust = Trust() if trust is None else trust
        self.digests: dict[Path, str] = {}
        """The SHA-256 of the content of each file that was read as a whole."""
        self._size = 0
        self._sum = sha256()

    @property
    def sha256(self) -> str:
        """Return the hash of the bytes of all files, in the order they were read."""
        return self._sum.hexdigest()

    @property
    def errors(self) -> int:
        """Return how many of the problems are errors."""
        return sum(problem.severity == "error" for problem in self.problems)

    @property
    def has_failed(self) -> bool:
        return self.errors > 0

    def sorted(self) -> list[Problem]:
        """Return every problem once, by file in the order of their first problems, then by line.

        Those of files outside the folder of a document that the user does not trust show nothing of what is in them,
        also where the user is about to trust it.
        """
        files = list(dict.fromkeys(problem.file for problem in self.problems))
        is_open = not self.beyond or (self.is_trusted(self.files[0]) and not self.is_asked_for)
        hidden = set[str]() if is_open else {display(path) for path in self.beyond}
        once = dict.fromkeys(
            replace(problem, path="", message=f"is not what {self.files[0].name} needs; trust it to see why")
            if problem.file in hidden
            else problem
            for problem in self.problems
        )
        return sorted(once, key=lambda problem: (files.index(problem.file), problem.line or END))

    def open(self, path: Path) -> Place | None:
        """Return the root of a document. If it cannot be read, note the problem and return None."""
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

    def given(self, value: Json, name: str) -> Place:
        """Return the root of a document that is in no file, under the name that problems show."""
        data = json.dumps(value).encode()
        self._sum.update(data)
        return Place(yaml12.load(data, f"{name}.json"), self.problems, value)

    def bytes_of(self, path: Path) -> bytes | None:
        """Return the content of a file. If it cannot be read or is too large, note the problem and return None."""
        if len(self.files) >= MOST_FILES:
            message = f"is one file too many: a document consists of at most {MOST_FILES}"
            self.problems.append(Problem(display(path), 0, "", message))
            return None
        try:
            if self.files:
                data = read_regular(path, yaml12.LARGEST + 1)
            else:
                with path.open("rb") as stream:
                    data = stream.read(yaml12.LARGEST + 1)
        except OSError as error:
            self.problems.append(Problem(display(path), 0, "", f"cannot be read: {error.strerror}"))
            return None
        if self.files and not is_below(path, self.files[0].parent) and not is_shipped(path):
            self.beyond.append(path)
        self.files.append(path)
        self._sum.update(data)
        self._size += len(data)
        if len(data) > yaml12.LARGEST:
            self.problems.append(Problem(display(path), 0, "", f"is larger than {yaml12.LARGEST >> 20} MiB"))
            return None
        if self._size > LARGEST_TOTAL:
            message = f"is too much: the files of a document have at most {LARGEST_TOTAL >> 20} MiB in all"
            self.problems.append(Problem(display(path), 0, "", message))
            return None
        self.digests[path] = sha256(data).hexdigest()
        return data

    # what documents may name -----------------------------------------------------------------------------------------

    def named_file(self, value: str, document: Path, *, may_be_folder: bool = False) -> Path | str:
        """Return the file that a document names, relative to its folder, or a message that says why it may not."""
        path = document.parent / value
        try:
            if not is_inside(path, document) and not any(is_beside(path, named) for named in self.files[:1]):
                if not self.is_trusted(document):
                    return (
                        f"{value!r} is outside the folder of {document.name} and the working directory"
                        f"; {self._advice(document)} to allow it"
                    )
                self._note_reliance(document)
            if not path.exists() or (path.is_dir() and not may_be_folder):
                return f"file {value!r} not found in the folder of {document.name}"
            if is_special(path, may_be_folder=may_be_folder):
                return f"{value!r} is not a regular file"
        except (OSError, RuntimeError, ValueError):  # a name that no file can have, or a loop of links
            return f"file {value!r} not found in the folder of {document.name}"
        return path

    def require_trust(
        self, place: Place, document: Path, action: str, code: Sequence[Path] = (), *, otherwise: str = ""
    ) -> None:
        """Note what a document does, and a warning unless the user trusts the document and the modules it names.

        `code`: their files, that of the program first. `otherwise`: what a user who does not trust it can do.
        """
        line = place.document.line(place.path)
        self.actions.append(Problem(place.document.file, line, place.dotted, action))
        self._note_reliance(document)
        if self.is_trusted(document, code):
            return
        message = f"{action}, which needs your trust: {self._advice(document, code)} if you trust it{otherwise}"
        self.untrusted.append(Problem(place.document.file, line, place.dotted, message))
        place.warning(message)

    def _note_reliance(self, document: Path) -> None:
        if document not in self.relying and not is_shipped(document):
            self.relying.append(document)

    def is_trusted(self, document: Path, code: Sequence[Path] = ()) -> bool:
        """Whether the user trusts a document that was read, and the modules that it names."""
        if self._trust.covers(document) or is_shipped(document):
            return True
        files = (document, *code)
        return all(self._trust.remembers(file, self.digests.get(file, "")) for file in files) and not self._lost(code)

    def _lost(self, code: Sequence[Path]) -> list[Path]:
        """Return the modules beside a program that the user has trusted and that do not exist any more."""
        return self._trust.lost(code[0].parent) if code else []

    def _advice(self, document: Path, code: Sequence[Path] = ()) -> str:
        files = (document, *code)
        changed = [path.name for path in files if self._trust.has_changed(path, self.digests.get(path, ""))]
        changed += [path.name for path in self._lost(code)]
        note = f"{changed[0]} has changed since you trusted it; " if changed else ""
        if not document.is_file():
            return f"{note}run `mcp-sim trust FILE` for a copy in a file"
        return f"{note}run `mcp-sim trust {quote(display(document))}`"


def is_shipped(path: Path) -> bool:
    """Whether a file ships with mcp-sim."""
    resolved = path.resolve()
    return any(resolved.is_relative_to(_home(folder).resolve()) for folder in _FOLDERS)


def display(path: Path) -> str:
    """Return a path as problems show it: relative to the working directory if it is below it."""
    if not path.is_absolute():
        return str(path)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(1 << 16)
    except OSError:
        return b"mcp_sim"  # opening it later reports what is wrong
