"""What JSON value does a YAML or JSON text hold, and on which line does each part of it stand?

Values are exactly JSON's: `NO`, `on`, `12:30`, `0o7` and dates are strings. Repeated keys, keys that are no strings,
tags, and texts that are too large, too deep or grow too far through aliases are refused. JSON is read by the JSON
parser; its lines are looked up only when there is something to report.
"""

from mcp_sim.spec.yaml12.reading import LARGEST, Document, load
from mcp_sim.spec.yaml12.tree import DEEPEST, Path, dotted
from mcp_sim.spec.yaml12.writing import dump, flow, scalar

__all__ = ["DEEPEST", "LARGEST", "Document", "Path", "dotted", "dump", "flow", "load", "scalar"]
