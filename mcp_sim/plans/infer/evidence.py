"""Evidence for the attributes of tools, and the choice of values by the sums of its weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from mcp_sim.types.frozen import frozen
from mcp_sim.types.plans import Basis, Source

Attribute = Literal["verb", "entity", "key", "fields", "result"]
"""What evidence is about: a field of a plan, the fields that arguments set or filter by, or the form of the result."""

CERTAIN = 10.0
"""The weight of what a spec declares: more than all that can be inferred."""

_MOST, _LEAST = 0.99, 0.05
"""The bounds of the confidence in what is inferred. No inference is certain, and a verb that a name contradicts stays
possible."""


@frozen
class Evidence:
    """A reason to believe that an attribute of a tool has a value; with a negative weight, a reason to doubt it."""

    tool: str
    """The id of the tool."""
    attribute: Attribute
    value: Any
    weight: float
    reason: str
    source: Source = "inferred"


def choose(evidence: Iterable[Evidence], attribute: Attribute, otherwise: Any) -> Any:
    """Return the value of an attribute with the greatest sum of weights, the first of equals.

    `otherwise` is returned if nothing speaks for any value.
    """
    sums: dict[Any, float] = defaultdict(float)
    for reading in evidence:
        if reading.attribute == attribute:
            sums[reading.value] += reading.weight
    best = max(sums, key=lambda value: sums[value], default=otherwise)
    return best if sums.get(best, 0.0) > 0 else otherwise


def supporting(evidence: Iterable[Evidence], attribute: Attribute, value: Any) -> list[Evidence]:
    """Return the evidence for and against a value of an attribute."""
    return [reading for reading in evidence if reading.attribute == attribute and reading.value == value]


def basis_of(evidence: Sequence[Evidence]) -> Basis:
    """Return the basis of values that this evidence supports. Its confidence is the sum of the weights, 0 to 1."""
    certain = any(reading.source == "declared" for reading in evidence)
    confidence = 1.0 if certain else round(min(_MOST, max(_LEAST, sum(reading.weight for reading in evidence))), 2)
    reasons = tuple(dict.fromkeys(reading.reason for reading in evidence))
    return Basis("declared" if certain else "inferred", confidence, reasons)
