"""A family of kinds: name = module = class, imported on first use.

Third parties add kinds with an entry point in the group `mcp_sim.<family>`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from mcp_sim.types.errors import UnknownKind

T = TypeVar("T")
K = TypeVar("K", bound=type[Any])


class Registry(Generic[T]):
    """The kinds of one family.

    `package` holds the kinds that ship, a module each; with `module`, a subpackage each that has a module of this
    name. Third parties use the entry-point group `mcp_sim.<family>`. `reserved` names are keys that documents write
    beside a kind.
    """

    def __init__(
        self, family: str, base: type[T], package: str, reserved: frozenset[str] = frozenset(), module: str = ""
    ) -> None:
        self.family = family
        self.base = base
        self.package = package
        self.reserved = reserved
        self._module = module
        self._kinds: dict[str, type[Any]] = {}

    def register(self, name: str) -> Callable[[K], K]:
        """Class decorator: this class is the kind `name` of the family."""
        if name in self.reserved:
            raise ValueError(f"{name!r} is a common key in {self.family}; a kind cannot bear it")

        def add(kind: K) -> K:
            known = self._kinds.get(name)
            if known is not None and known.__module__ != kind.__module__:
                raise ValueError(f"{self.family} kind {name!r} is registered by {known.__module__} already")
            self._kinds[name] = kind
            return kind

        return add

    def __getitem__(self, name: str) -> type[T]:
        """The class of a kind; raises UnknownKind, which names the nearest one."""
        if name not in self._kinds:
            self._import(name)
        return self._kinds[name]

    def names(self) -> list[str]:
        """Every kind that can be used here, sorted, without importing any."""
        return sorted(self._shipped | {entry.name for entry in self._entry_points} | set(self._kinds))

    def name_of(self, kind: T | type[T]) -> str:
        """The name under which a class, or the class of an instance, is registered."""
        cls = kind if isinstance(kind, type) else type(kind)
        return next(name for name, known in self._kinds.items() if known is cls)

    def _import(self, name: str) -> None:
        if name in self._shipped:
            import_module(f"{self.package}.{name}.{self._module}".rstrip("."))
            return
        for entry in self._entry_points:
            if entry.name == name:
                entry.load()
        if name not in self._kinds:
            raise UnknownKind(self.family, name, self.names())

    @cached_property
    def _shipped(self) -> set[str]:
        found = iter_modules(import_module(self.package).__path__)
        if not self._module:
            return {kind.name for kind in found}
        return {kind.name for kind in found if kind.ispkg and self._has_module(kind.name)}

    def _has_module(self, name: str) -> bool:
        paths = [f"{path}/{name}" for path in import_module(self.package).__path__]
        return any(module.name == self._module for module in iter_modules(paths))

    @cached_property
    def _entry_points(self) -> EntryPoints:
        """What is installed does not change while a process runs, and looking for it takes 12 ms."""
        return entry_points(group=f"mcp_sim.{self.family}")
