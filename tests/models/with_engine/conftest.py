"""The engine that `.ci/engine.py` starts; without it these tests are not collected."""

from __future__ import annotations

import os

import pytest

if "MCP_SIM_ENGINE" not in os.environ:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def engine() -> str:
    """The base URL of a running engine that serves a model of random weights as `tiny`."""
    return os.environ["MCP_SIM_ENGINE"]
