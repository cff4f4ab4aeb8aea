"""How much the tests try. MCP_SIM_THOROUGH=1 in the environment makes them try more."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("MCP_SIM_THOROUGH") == "1"

EXAMPLES = 200 if THOROUGH else 40
"""Examples of a property, where the test does not say otherwise."""

SEEDS = range(1, 40 if THOROUGH else 8)
"""Seeds under which a shipped scenario is played, beside seed 0."""

WALKS = range(3 if THOROUGH else 1)
"""Seeds of random walks over a shipped scenario; `benchmarks/walks.py` makes longer ones."""
