"""Fixtures that several test files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_sim.documents import shipped


@pytest.fixture
def shipped_spec() -> Callable[[str], Path]:
    """The path of a tool spec that ships, by its stem."""
    return lambda stem: shipped("tool_specs")[stem]
