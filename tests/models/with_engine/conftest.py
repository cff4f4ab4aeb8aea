"""The engine that `.ci/engine.py` starts; without it these tests are not collected."""

from __future__ import annotations

import os

import pytest

RANDOM, SMALL = "MCP_SIM_ENGINE", "MCP_SIM_SMALL_ENGINE"
collect_ignore_glob = [] if RANDOM in os.environ else ["test_instructions.py", "test_random_tokens.py"]
collect_ignore_glob += [] if SMALL in os.environ else ["test_small_model*.py"]


@pytest.fixture(scope="session")
def engine() -> str:
    """The base URL of a running engine that serves a model of random weights as `tiny`."""
    return os.environ[RANDOM]


@pytest.fixture(scope="session")
def small_engine() -> str:
    """The base URL of a running engine that serves a small real model as `tiny`."""
    return os.environ[SMALL]
