"""Processes for code that the user does not trust: hard limits, no files, no network, no other processes.

`run_confined("package.module:function", argument, seconds=60)` calls a function in a new process of its own.
"""

from __future__ import annotations

from mcp_sim.programs.sandbox.confinement import Limits, Unconfined, is_available, restrict
from mcp_sim.programs.sandbox.process import Late, Process, Stopped, run_confined

__all__ = ["Late", "Limits", "Process", "Stopped", "Unconfined", "is_available", "restrict", "run_confined"]
