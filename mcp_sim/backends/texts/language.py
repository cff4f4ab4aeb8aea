"""Simple versions of operations for language models: summary, keywords, sentiment, translation."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from mcp_sim.backends.compute.operation import NUMBER, TEXT, Arguments, ComputeContext, Operation, role
from mcp_sim.backends.texts.editing import COUNT, SUBJECT, from_arguments, on_text, text_operation
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


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part.strip()]


def _summary(arguments: Arguments) -> str:
    """Return the sentences with the most frequent words of the text, in their order."""
    sentences = _sentences(str(arguments["text"]))
    weights = Counter(_content(str(arguments["text"])))
    wanted = max(1, int(arguments.get("sentences") or max(1, len(sentences) // 3)))
    rated = sorted(sentences, key=lambda one: -sum(weights[word] for word in _content(one)) / (len(one.split()) + 5))[
        :wanted
    ]
    text = " ".join(one for one in sentences if one in rated)
    longest = arguments.get("length")
    return text if longest is None or len(text) <= longest else text[: max(0, int(longest) - 1)].rstrip() + "…"


def _content(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _COMMON and len(word) > 2]


def _keywords(arguments: Arguments) -> Json:
    return [word for word, _ in Counter(_content(str(arguments["text"]))).most_common(int(arguments.get("count") or 5))]


def _sentiment(text: str) -> Json:
    found = re.findall(r"[a-z]+", text.lower())
    good, bad = (sum(word in known for word in found) for known in (_GOOD, _BAD))
    score = round((good - bad) / (good + bad), 2) if good + bad else 0.0
    label = "positive" if score > 0 else "negative" if score < 0 else "neutral"
    confidence = round(0.5 + abs(score) / 2, 2)
    return {"sentiment": label, "label": label, "score": score, "polarity": score, "confidence": confidence}


def _translated(arguments: Arguments, _context: ComputeContext) -> Json:
    """Return the text itself, marked with the target language."""
    return f"[{arguments['target']}] {arguments['text']}"


_CLIPPED = (
    role("length", NUMBER, "max_length, max_chars, max_characters", optional=True),
    role("sentences", NUMBER, "max_sentences, num_sentences, sentence_count", optional=True),
    role("style", TEXT, "language, format, type, tone", optional=True),
)


_GUESSES: tuple[Operation, ...] = (
    text_operation(
        "summarise",
        ("summarize, summarise, summarize_text, summarise_text, text_summary, generate_summary, get_summary"),
        (SUBJECT, *_CLIPPED),
        from_arguments(_summary),
        "summary",
    ),
    text_operation(
        "keywords",
        "extract_keywords, keyword_extraction, get_keywords, keywords, extract_key_terms",
        (SUBJECT, COUNT),
        from_arguments(_keywords),
        "keywords",
    ),
    text_operation(
        "sentiment",
        (
            "analyze_sentiment, sentiment_analysis, sentiment, get_sentiment, detect_sentiment, "
            "analyse_sentiment, text_sentiment, classify_sentiment"
        ),
        (SUBJECT,),
        on_text(_sentiment),
        "sentiment",
    ),
    text_operation(
        "translate",
        "translate, translate_text, text_translate, translation",
        (
            SUBJECT,
            role("target", TEXT, "target_language, to, target_lang, language, to_language, lang, dest, target_locale"),
            role("source", TEXT, "source_language, from, source_lang, from_language, src", optional=True),
        ),
        _translated,
        "translation",
        "translated_text",
        "translated",
    ),
)
OPERATIONS = tuple(replace(one, guesses=True) for one in _GUESSES)
