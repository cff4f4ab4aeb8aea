"""Processes for the code of models and agents: hard limits, no files, no network, no other processes.

`run_confined("package.module:function", argument, seconds=60)` calls a function in a new process of its own.
"""

from __future__ import annotations

from mcp_sim.libraries.sandbox.confinement import Limits, Unconfined, own_files
from mcp_sim.libraries.sandbox.process import Process, Stopped, run_confined

__all__ = ["Limits", "Process", "Stopped", "Unconfined", "own_files", "run_confined"]
