"""Where are the kinds of each family found by their names?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_sim.types.kinds.backend import Backend
from mcp_sim.types.kinds.expectation import Expectation
from mcp_sim.types.kinds.importer import Importer
from mcp_sim.types.kinds.perturbation import Perturbation
from mcp_sim.types.kinds.registry import Registry
from mcp_sim.types.kinds.store import Store
from mcp_sim.types.kinds.trigger import Trigger
from mcp_sim.types.kinds.world_model import WorldModel

COMMON_PERTURBATION_KEYS = frozenset({"id", "tools", "when", "fires", "visible", "group", "enabled"})
COMMON_EXPECTATION_KEYS = frozenset({"id", "weight", "gate", "optional"})
COMMON_WORLD_MODEL_KEYS = frozenset({"tools"})
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
backends: Registry[Backend] = Registry("backends", Backend, "mcp_sim.backends", module="backend")
stores: Registry[Store] = Registry("stores", Store, "mcp_sim.world.stores")
importers: Registry[Importer] = Registry("importers", Importer, "mcp_sim.spec.importers")
families: Mapping[str, Registry[Any]] = {
    registry.family: registry
    for registry in (perturbations, triggers, expectations, world_models, backends, stores, importers)
}
