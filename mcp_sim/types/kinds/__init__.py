"""The families of kinds that can be extended: their base classes and registries.

A kind is a pydantic model: its fields are its YAML options, its docstring is its manual, its methods are what it does.
One instance is shared by all worlds and is immutable. What it must remember of a world is kept in `turn.memory`.
"""

from __future__ import annotations

from mcp_sim.types.kinds.backend import Answer, Backend, Invent, Tables
from mcp_sim.types.kinds.expectation import Difference, End, Expectation, Verdict
from mcp_sim.types.kinds.importer import Imported, Importer, Unreached
from mcp_sim.types.kinds.kind import Kind
from mcp_sim.types.kinds.perturbation import (
    Apply,
    Check,
    CountCall,
    Listing,
    Occasion,
    Perturbation,
    Role,
    Stage,
    Trigger,
)
from mcp_sim.types.kinds.registries import (
    COMBINATORS,
    COMMON_EXPECTATION_KEYS,
    COMMON_PERTURBATION_KEYS,
    COMMON_WORLD_MODEL_KEYS,
    backends,
    expectations,
    families,
    importers,
    perturbations,
    stores,
    triggers,
    world_models,
)
from mcp_sim.types.kinds.store import OpenStore, Sink, Snapshot, Store, StoredEntry, pauses
from mcp_sim.types.kinds.world_model import ImmediatePredictor, Predictor, RequestPredictor, WorldModel

__all__ = [
    "COMBINATORS", "COMMON_EXPECTATION_KEYS", "COMMON_PERTURBATION_KEYS", "COMMON_WORLD_MODEL_KEYS", "Answer", "Apply",
    "Backend", "Check", "CountCall", "Difference", "End", "Expectation", "ImmediatePredictor", "Imported", "Importer",
    "Invent", "Kind", "Listing", "Occasion", "OpenStore", "Perturbation", "Predictor", "RequestPredictor", "Role",
    "Sink", "Snapshot", "Stage", "Store", "StoredEntry", "Tables", "Trigger", "Unreached", "Verdict", "WorldModel",
    "backends", "expectations", "families", "importers", "pauses", "perturbations", "stores", "triggers",
    "world_models",
]  # fmt: skip
