"""Random delays."""

from __future__ import annotations

from datetime import timedelta
from math import exp, log
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from mcp_sim.types.options import Part, PositiveDuration

LONGEST = timedelta(days=1)
"""No drawn delay is longer, however long its tail. A Pareto distribution with a shape near 1 draws years once in a
while."""
USUAL_SIGMA = 0.5  # one answer in 20 takes 2.3 times the median or longer


class LogNormal(Part):
    """How long answers take: random times around a median."""

    median: PositiveDuration = Field(description="Half of the answers take longer.", examples=["40ms"])
    sigma: Annotated[float, Field(gt=0, le=5)] = Field(
        default=USUAL_SIGMA, description="Standard deviation of the logarithm of the times."
    )

    def quantile(self, chance: float) -> timedelta:
        """Return the delay that a share `chance` of the delays does not exceed."""
        return log_normal(self.median, self.sigma, chance)


def log_normal(median: timedelta, sigma: float, chance: float, longest: timedelta = LONGEST) -> timedelta:
    """Return the quantile `chance` of delays around a median whose logarithms have the standard deviation `sigma`."""
    spread = NormalDist(0, sigma)
    return scaled(median, spread.inv_cdf(chance) if chance > 0 else -spread.stdev * 9, longest)


def scaled(scale: timedelta, exponent: float, longest: timedelta = LONGEST) -> timedelta:
    """Return `scale` times e to the power of the exponent, limited to the longest delay."""
    if not scale:
        return scale
    return longest if exponent >= log(longest / scale) else scale * exp(exponent)
