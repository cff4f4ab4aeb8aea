"""Load the Python files of programs that the user trusts."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from threading import RLock
from traceback import extract_tb
from types import ModuleType
from typing import Any

from mcp_sim.programs.watchdog import Overrun
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.programs import module_name

_IMPORTING = RLock()


class Siblings(MetaPathFinder, Loader):
    """The modules beside a program. Each program has its own ones, so that two may both have a `helpers.py`.

    They are in `sys.modules` only while the program imports: its modules have an `__import__` of their own. Only the
    bytes that were read with the document are compiled. Whatever else is in the folder is never imported: files that
    have come or changed since then, bytecode, extension modules.
    """

    def __init__(self, code: Mapping[Path, bytes]) -> None:
        program, *others = code
        self._code = code
        self._folder = program.parent.resolve()
        self._files = {module_name(file, program.parent): file for file in others}
        self._names = {*self._files, *(parent for name in self._files for parent in _parents(name))}
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def run(self, module: ModuleType, file: Path) -> None:
        """Run what was read of a file in a module."""
        vars(module)["__builtins__"] = self._builtins
        exec(compile(self._code[file], str(file), "exec", dont_inherit=True), vars(module))  # noqa: S102 (trusted)

    @contextmanager
    def importing(self) -> Generator[None]:
        """Let the modules beside the program precede all others, and forget them afterwards."""
        with _IMPORTING:
            if self in sys.meta_path:  # a module that is being imported imports another one
                yield
                return
            known = {name: sys.modules.pop(name, None) for name in self._names}
            sys.modules.update(self._modules)
            sys.meta_path.insert(0, self)
            try:
                yield
            finally:
                sys.meta_path.remove(self)
                self._modules = {name: sys.modules.pop(name) for name in self._names if name in sys.modules}
                sys.modules.update({name: module for name, module in known.items() if module is not None})

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module beside the program, or of one elsewhere.

        Raises `ModuleNotFoundError` for one in the program's folder that was not read.
        """
        file = self._files.get(fullname)
        if file is not None:
            folders = [str(file.parent)] if file.name == "__init__.py" else None
            return spec_from_file_location(fullname, file, loader=self, submodule_search_locations=folders)
        if fullname in self._names:  # a folder of modules without `__init__.py`
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(self._folder.joinpath(*fullname.split(".")))]
            return spec
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in others if spec is not None), None)
        if spec is not None and self._is_beside(spec):
            raise ModuleNotFoundError(f"{fullname} was not read with the program, and is not imported", name=fullname)
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run a module beside the program."""
        self.run(module, self._files[module.__name__])

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 (the signature of `__import__`)
        locals: Mapping[str, object] | None = None,  # noqa: A002 (the same)
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        root = name.partition(".")[0]
        if not level and root not in self._names and root in sys.modules:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self.importing():
            return builtins.__import__(name, globals, locals, fromlist or (), level)

    def _is_beside(self, spec: ModuleSpec) -> bool:
        """Whether a module or package is in the folder of the program itself, or in one of its packages."""
        places = [Path(place).parent for place in spec.submodule_search_locations or ()]
        places += [Path(spec.origin).parent] if spec.has_location and spec.origin else []
        folders = {self._folder, *(self._folder.joinpath(*name.split(".")) for name in self._names)}
        return any(place.resolve() in folders for place in places)


def _parents(name: str) -> list[str]:
    """Return the packages that a module is in: `a` and `a.b` of `a.b.c`."""
    parts = name.split(".")[:-1]
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def load_functions(code: Mapping[Path, bytes]) -> dict[str, Callable[..., Any]]:
    """Run the first file of a program, and return its functions by name.

    The other files are the modules beside it that it may import, as if Python had been started with it. Raises
    `DocumentError` with the line where the file fails.
    """
    path = next(iter(code))
    siblings = Siblings(code)
    with siblings.importing():
        module = ModuleType(f"mcp_sim_program_{path.stem}")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module  # where dataclasses look for it
        try:
            siblings.run(module, path)
        except (Exception, SystemExit) as error:
            raise DocumentError(
                [Problem(str(path), _line(error, path), "", f"cannot be loaded: {reason(error)}")]
            ) from error
    return {name: value for name, value in vars(module).items() if callable(value)}


def failed_at(error: BaseException, path: Path) -> str:
    """Return where an exception was raised: the innermost line of a program and the modules beside it."""
    frames = extract_tb(error.__traceback__)
    folder = path.parent.resolve()
    lines = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(folder)]
    return f"{Path(lines[-1].filename).name}:{lines[-1].lineno} in {lines[-1].name}" if lines else path.name


def reason(error: BaseException) -> str:
    """Return the type and the text of an exception."""
    if isinstance(error, Overrun):
        return error.reason
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _line(error: BaseException, path: Path) -> int:
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return error.lineno
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
    return (lines[-1] if lines else 0) or 0
