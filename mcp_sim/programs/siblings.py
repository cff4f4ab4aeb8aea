"""Find the modules beside a program, when it is loaded and when one of its functions imports them."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, cast

_IMPORTING = RLock()


class Siblings(MetaPathFinder):
    """The modules beside a program. Each program has its own ones, so that two may both have a `helpers.py`.

    They are in `sys.modules` only while the program imports: its modules have an `__import__` of their own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def program(self, path: Path) -> ModuleSpec | None:
        """Return the spec of the program itself."""
        name = f"mcp_sim_program_{path.stem}"
        return spec_from_file_location(name, path, loader=_Loader(name, str(path), self._builtins))

    @contextmanager
    def importing(self) -> Generator[None]:
        """Let the modules beside the program precede all others, and forget them afterwards."""
        with _IMPORTING:
            known = {name: sys.modules.get(name) for name in self._modules}
            sys.modules.update(self._modules)
            before = {*sys.modules}
            sys.meta_path.insert(0, self)
            try:
                yield
            finally:
                sys.meta_path.remove(self)
                modules = {name: sys.modules[name] for name in sys.modules.keys() - before}
                self._modules |= {name: module for name, module in modules.items() if self._is_beside(module)}
                for name in self._modules:
                    _restore(name, known.get(name))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module in the folder, or in a package there."""
        for folder in (self._folder,) if path is None else map(Path, path):
            if folder.is_relative_to(self._folder):
                finder = FileFinder(str(folder), (cast("Any", self._loader), SOURCE_SUFFIXES))
                if (spec := finder.find_spec(fullname)) is not None:
                    return spec
        return None

    def _loader(self, fullname: str, path: str) -> _Loader:
        return _Loader(fullname, path, self._builtins)

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 (the signature of `__import__`)
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        root = name.partition(".")[0]
        if not level and not (self._folder / f"{root}.py").is_file() and not (self._folder / root).is_dir():
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self.importing():
            return builtins.__import__(name, globals, locals, fromlist or (), level)

    def _is_beside(self, module: ModuleType | None) -> bool:
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and Path(file).is_relative_to(self._folder)


class _Loader(SourceFileLoader):
    """Loads a module whose functions import as the program does."""

    def __init__(self, fullname: str, path: str, names: Mapping[str, Any]) -> None:
        super().__init__(fullname, path)
        self._names = names

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._names
        super().exec_module(module)


def _restore(name: str, module: ModuleType | None) -> None:
    if module is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module
