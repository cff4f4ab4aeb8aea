"""Read and write YAML and JSON, with the line of each part.

Values are exactly those of JSON: `NO`, `on`, `12:30`, `0o7` and dates are strings. Duplicate keys, keys that are not
strings, tags, and texts that are too large, too deep or grow too much through aliases are errors. JSON is read by the
JSON parser; its line numbers are computed only when there is something to report.
"""

from mcp_sim.spec.yaml12.nodes import DEEPEST, Path, dotted
from mcp_sim.spec.yaml12.reading import LARGEST, Document, load
from mcp_sim.spec.yaml12.writing import dump, flow, scalar

__all__ = ["DEEPEST", "LARGEST", "Document", "Path", "dotted", "dump", "flow", "load", "scalar"]
