"""Check a ledger against the rules R1 to R8 of a world, from the ledger and the specs alone.

It shares no code with the product. What it knows of the world it has learnt from the ledger: what was written, and what
unperturbed answers showed. Only what that knowledge proves wrong is a violation.
"""

from support.checker.report import Report, Violation, judged
from support.checker.tables import judged_tables

__all__ = ["Report", "Violation", "judged", "judged_tables"]
