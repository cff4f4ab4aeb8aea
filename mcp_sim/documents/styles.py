"""How do well-known vendors word their failures? The styles that a tool spec can name, each a file of templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter

from mcp_sim import yaml12
from mcp_sim.tool_spec import Error, ErrorPart

_FOLDER = Path(__file__).parent.parent / "error_styles"


def error_style(name: str | None) -> Mapping[str, ErrorPart]:
    """The failures of a style, by kind; none without a name."""
    if name is None:
        return {}
    file = _FOLDER / f"{name}.yaml"
    return TypeAdapter(dict[str, Error]).validate_python(yaml12.load(file.read_bytes(), str(file)).value)
