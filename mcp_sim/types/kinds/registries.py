"""Registries of kinds: a kind's name is that of its module and class. It is imported on first use.

Third parties add kinds with an entry point in the group `mcp_sim.<family>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from mcp_sim.types.errors import UnknownKind
from mcp_sim.types.kinds.backend import Backend
from mcp_sim.types.kinds.expectation import Expectation
from mcp_sim.types.kinds.importer import Importer
from mcp_sim.types.kinds.perturbation import Perturbation, Trigger
from mcp_sim.types.kinds.store import Store
from mcp_sim.types.kinds.world_model import WorldModel
from mcp_sim.types.programs import PROGRAM

T = TypeVar("T")
K = TypeVar("K", bound=type[Any])

_NOWHERE: Mapping[str, str] = {}


class Registry(Generic[T]):
    """The kinds of one family.

    `package` holds the kinds that ship: one module each, or, if `module` is given, one subpackage each with a module of
    that name. `elsewhere` has the modules of those that live in other packages. `reserved` names are keys that
    documents write beside a kind, so that no kind can have them.
    """

    def __init__(
        self,
        family: str,
        base: type[T],
        package: str,
        reserved: frozenset[str] = frozenset(),
        module: str = "",
        elsewhere: Mapping[str, str] = _NOWHERE,
    ) -> None:
        self.family = family
        self.base = base
        self.package = package
        self.reserved = reserved
        self._module, self.elsewhere = module, elsewhere
        self._kinds: dict[str, type[Any]] = {}

    def register(self, name: str) -> Callable[[K], K]:
        """Return a class decorator that registers a class as the kind `name`.

        Raises `ValueError` if the name is reserved, or registered by another module.
        """
        if name in self.reserved:
            raise ValueError(f"{name!r} is a common key in {self.family}; a kind cannot have this name")

        def add(kind: K) -> K:
            known = self._kinds.get(name)
            if known is not None and known.__module__ != kind.__module__:
                raise ValueError(f"{self.family} kind {name!r} is already registered by {known.__module__}")
            self._kinds[name] = kind
            return kind

        return add

    def __getitem__(self, name: str) -> type[T]:
        """Return the class of a kind. Raises `UnknownKind`, with the nearest name."""
        if name not in self._kinds:
            self._import(name)
        return self._kinds[name]

    def names(self) -> list[str]:
        """Return the name of every available kind, sorted, without importing any."""
        return sorted(self._shipped | {entry.name for entry in self._entry_points} | set(self._kinds))

    def name_of(self, kind: T | type[T]) -> str:
        """Return the name under which a class, or the class of an instance, is registered."""
        cls = kind if isinstance(kind, type) else type(kind)
        return next(name for name, known in self._kinds.items() if known is cls)

    def _import(self, name: str) -> None:
        if name in self._shipped:
            import_module(self.elsewhere.get(name) or f"{self.package}.{name}.{self._module}".rstrip("."))
            return
        for entry in self._entry_points:
            if entry.name == name:
                entry.load()
        if name not in self._kinds:
            raise UnknownKind(self.family, name, self.names())

    @cached_property
    def _shipped(self) -> set[str]:
        modules = iter_modules(import_module(self.package).__path__)
        if not self._module:
            return {kind.name for kind in modules}
        return {*self.elsewhere, *(kind.name for kind in modules if kind.ispkg and self._has_module(kind.name))}

    def _has_module(self, name: str) -> bool:
        paths = [f"{path}/{name}" for path in import_module(self.package).__path__]
        return any(module.name == self._module for module in iter_modules(paths))

    @cached_property
    def _entry_points(self) -> EntryPoints:
        """The entry points of the family. Looking for them takes 12 ms, and they do not change in a process."""
        return entry_points(group=f"mcp_sim.{self.family}")


COMMON_PERTURBATION_KEYS = frozenset({"id", "tools", "when", "fires", "visible", "group", "enabled"})
COMMON_EXPECTATION_KEYS = frozenset({"id", "weight", "gate", "optional", "message"})
COMMON_WORLD_MODEL_KEYS = frozenset({"tools", "reads", "writes", "unmatched"})
COMBINATORS = frozenset({"any", "all", "not", "per"})

perturbations: Registry[Perturbation] = Registry(
    "perturbations", Perturbation, "mcp_sim.faults.perturbations", COMMON_PERTURBATION_KEYS
)
triggers: Registry[Trigger] = Registry("triggers", Trigger, "mcp_sim.faults.triggers", COMBINATORS)
expectations: Registry[Expectation] = Registry(
    "expectations", Expectation, "mcp_sim.grading.expectations", COMMON_EXPECTATION_KEYS
)
world_models: Registry[WorldModel] = Registry(
    "world_models", WorldModel, "mcp_sim.models.world_models", COMMON_WORLD_MODEL_KEYS
)
backends: Registry[Backend] = Registry(
    "backends", Backend, "mcp_sim.plans", module="backend", elsewhere={PROGRAM: "mcp_sim.programs.backend"}
)
stores: Registry[Store] = Registry("stores", Store, "mcp_sim.world.stores")
importers: Registry[Importer] = Registry("importers", Importer, "mcp_sim.spec.importers")
families: Mapping[str, Registry[Any]] = {
    registry.family: registry
    for registry in (perturbations, triggers, expectations, world_models, backends, stores, importers)
}
