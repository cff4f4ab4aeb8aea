"""Random delays."""

from __future__ import annotations

from datetime import timedelta
from math import exp, log
from statistics import NormalDist

from mcp_sim.types.frozen import frozen

LONGEST = timedelta(days=1)
"""No drawn delay is longer, however long its tail. A Pareto distribution with a shape near 1 draws years once in a
while."""
USUAL_SIGMA = 0.5  # one answer in 20 takes 2.3 times the median or longer


@frozen
class LogNormal:
    """Delays around a median. Their logarithms have the standard deviation `sigma`."""

    median: timedelta
    sigma: float = USUAL_SIGMA

    def quantile(self, chance: float, longest: timedelta = LONGEST) -> timedelta:
        """Return the delay that a share `chance` of the delays does not exceed."""
        spread = NormalDist(0, self.sigma)
        return scaled(self.median, spread.inv_cdf(chance) if chance > 0 else -spread.stdev * 9, longest)


def scaled(scale: timedelta, exponent: float, longest: timedelta = LONGEST) -> timedelta:
    """Return `scale` times e to the power of the exponent, limited to the longest delay."""
    if not scale:
        return scale
    return longest if exponent >= log(longest / scale) else scale * exp(exponent)
