"""How do YAML and JSON documents become a scenario? Every problem is told at once, with file, line and path."""

from mcp_sim.documents.loading import check, checked, load
from mcp_sim.documents.sources import shipped

__all__ = ["check", "checked", "load", "shipped"]
