"""Programs in both places: in the process of the simulator, and in a sandbox."""

from __future__ import annotations

import pytest
from support import libraries

from mcp_sim.programs.sandbox import is_available


@pytest.fixture(params=["trust", "sandbox"])
def trusted_and_not(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: the program is trusted, or runs in a sandbox."""
    if request.param == "sandbox" and not is_available():
        pytest.skip("this system has no sandbox")
    monkeypatch.setattr(libraries, "LOADED", {request.param: True})
