"""Scripted agents of graded skill: whether they look before they write, retry, verify, read errors."""

from __future__ import annotations

from mcp_sim.runs.agents.strategies import STRATEGIES, Strategy

SKILLS = {
    "golden": Strategy("reads after every write, and verifies at the end", 6, "always", waits=True, verifies=True),
    "reader": Strategy("reads after every write", 6, "always", waits=True),
    "verifier": Strategy("reads after failures, and verifies at the end", 4, "after errors", verifies=True),
    "verify_then_retry": STRATEGIES["verify_then_retry"],
    "looker": Strategy("looks before each write, and repeats whatever fails", looks=True),
    "late_verifier": Strategy("repeats whatever fails, and verifies at the end", verifies=True),
    "naive_retry": STRATEGIES["naive_retry"],
    "impatient": Strategy("repeats whatever fails, once", tries=2, carries_on=True),
    "error_reader": Strategy("repeats only what the error says may pass", passing_only=True, carries_on=True),
    "carries_on": Strategy("leaves out what fails", tries=1, carries_on=True),
    "give_up": STRATEGIES["give_up"],
    "duplicate_writer": STRATEGIES["duplicate_writer"],
    "forgetful": Strategy("forgets a fifth of its writes, else careful", 4, "after errors", forgets=0.2),
    "very_forgetful": Strategy("forgets half of its writes, and repeats whatever fails", forgets=0.5),
    "sloppy": Strategy("misspells a third of its writes, reads after failures", 4, "after errors", slips=0.33),
    "sloppy_verifier": Strategy(
        "misspells a third of its writes, and verifies", 4, "always", slips=0.33, verifies=True
    ),
}
"""By name, roughly the best first. All but the chances are what agents differ in that were seen to fail."""
