"""Simple versions of functions for language models: summary, keywords, sentiment, translation."""

from __future__ import annotations

import re
from collections import Counter

from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

_GOOD = vocabulary("good great excellent love loved wonderful happy best amazing nice perfect fantastic enjoy awesome "
                   "like brilliant pleased thanks thank delighted superb beautiful recommend helpful fast")  # fmt: skip
_BAD = vocabulary("bad terrible awful hate hated worst sad poor horrible broken angry disappointed disappointing fail "
                  "failed slow wrong useless annoying problem problems never ugly refund rude late")  # fmt: skip
_COMMON = vocabulary("the a an and or but of to in on for with is are was were be been it its this that these those as "
                     "at by from not no i you he she we they them his her our your their has have had do does did will "
                     "would can could should may more most than then so if into about over also which who "
                     "what")  # fmt: skip


def summarize(text: str, length: float | None = None, sentences: float | None = None, style: str | None = None) -> str:  # noqa: ARG001 (there is one style)
    """Return the sentences with the most frequent words of a text, by default a third; `length` cuts it off."""
    listed = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part.strip()]
    weights = Counter(_content(text))
    wanted = max(1, int(sentences or max(1, len(listed) // 3)))
    rated = sorted(listed, key=lambda one: -sum(weights[word] for word in _content(one)) / (len(one.split()) + 5))
    kept = " ".join(one for one in listed if one in rated[:wanted])
    return kept if length is None or len(kept) <= length else kept[: max(0, int(length) - 1)].rstrip() + "…"


def _content(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _COMMON and len(word) > 2]


def extract_keywords(text: str, count: float | None = None) -> list[str]:
    """Return the most frequent words of a text, 5 by default, without those of grammar."""
    return [word for word, _ in Counter(_content(text)).most_common(int(count or 5))]


def sentiment(text: str) -> Json:
    """Return whether a text is positive or negative by its single words, with a score from -1 to 1."""
    found = re.findall(r"[a-z]+", text.lower())
    good, bad = (sum(word in known for word in found) for known in (_GOOD, _BAD))
    score = round((good - bad) / (good + bad), 2) if good + bad else 0.0
    label = "positive" if score > 0 else "negative" if score < 0 else "neutral"
    confidence = round(0.5 + abs(score) / 2, 2)
    return {"sentiment": label, "label": label, "score": score, "polarity": score, "confidence": confidence}


def translate(text: str, target: str, source: str | None = None) -> str:  # noqa: ARG001 (the text is not read)
    """Return the text itself, marked with the target language."""
    return f"[{target}] {text}"
