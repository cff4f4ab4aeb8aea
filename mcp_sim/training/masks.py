"""Which turns are worth predicting: four statistics of action and observation, and seven classes with keep ratios.

After Qwen-AgentWorld (arXiv 2606.24597, section 3.2 and table 3). The paper names the classes and their ratios, but not
the order in which they are tried, what makes an observation short, or how words are split: these are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from mcp_sim.types import Record

KEEP = {"echo": 0.05, "boilerplate": 0.1, "transform": 0.5}
"""The share of turns that is kept of each class; of the others, all."""


def turn_mask(action: str, observation: str, words: Callable[[str], Sequence[str]] = str.split) -> Record:
    """Return the statistics of a turn, its class, and whether it counts for the loss: the same in every process.

    `words` splits a text. White space splits compact JSON hardly at all: use the tokeniser of the model to train.
    """
    acted, seen = set(words(action.lower())), set(words(observation.lower()))
    overlap = len(acted & seen) / len(acted) if acted else 0.0
    novelty = len(seen - acted) / len(seen) if seen else 0.0
    jaccard = len(acted & seen) / len(acted | seen) if acted | seen else 0.0
    ratio = len(observation) / len(action) if action else 0.0
    category = _category(overlap, novelty, ratio)
    keep = KEEP.get(category, 1.0)
    draw = int(sha256(f"{action}\0{observation}".encode()).hexdigest()[:8], 16) / 2**32
    return {
        "overlap": round(overlap, 4),
        "novelty": round(novelty, 4),
        "jaccard": round(jaccard, 4),
        "length_ratio": round(ratio, 4),
        "category": category,
        "keep_ratio": keep,
        "loss": draw < keep,
    }


def _category(overlap: float, novelty: float, ratio: float) -> str:
    """Return the first class that applies."""
    classes = {
        "echo": overlap >= 0.7 and novelty < 0.3,
        "boilerplate": overlap >= 0.5 and novelty < 0.5,
        "expansion": overlap >= 0.5 and novelty >= 0.5 and ratio > 1.5,
        "retrieval": novelty >= 0.6 and ratio > 1,
        "action": novelty >= 0.5 and ratio <= 1,
        "transform": novelty < 0.5 and ratio < 1,
    }
    return next((name for name, applies in classes.items() if applies), "other")
