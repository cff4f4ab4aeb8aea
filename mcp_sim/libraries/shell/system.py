"""What every machine of a shell has, read from `system.json`: files, packages, variables, its kernel and interfaces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pkgutil import get_data

from mcp_sim.types import Json

SYSTEM: Mapping[str, Json] = json.loads(get_data("mcp_sim.libraries.shell", "system.json") or b"")
