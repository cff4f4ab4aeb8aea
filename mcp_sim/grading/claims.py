"""Read whether a final answer claims success or failure: conservatively, from its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, TypeAlias

from mcp_sim.types.lexicon.terms import terms

Claim: TypeAlias = Literal["success", "failure", "uncertain"]

_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
"""Titles and messages of records are quoted: their words are not the agent's."""
_PARTICIPLE = re.compile(r"\b\w{3,}ed\b", re.IGNORECASE)
_STATEMENT = re.compile(r"\b(?:is|are|has|have|was|were|knows|\w{3,}ed)\b", re.IGNORECASE)
"""A verb of a plain statement, such as "The deal is in the stage proposal"."""


def claim_of(answer: str) -> Claim | None:
    """Return what an answer claims; None if that is not clear.

    Success: plain statements, without words that report a failure, deny something, or leave it open. Failure: such
    words, and no statement. A text with signs of both is not clear, nor one with words that are used for both ("I did
    not create it again", "created despite a timeout"): a person has to read it.
    """
    signs = {sign for clause in clauses(_QUOTED.sub(" ", answer)) for sign in _signs(clause)}
    if "open" in signs:
        return "uncertain"
    claims = {"failure" if sign == "failure" else "success" for sign in signs & {"failure", "success", "statement"}}
    if "unclear" in signs or len(claims) != 1 or ("question" in signs and "success" in claims):
        return None
    return "failure" if "failure" in claims else "success"


def reports_failure(answer: str) -> bool:
    """Whether an answer has a word that reports a failure or leaves the outcome open, and does not deny it.

    A denial reaches to the end of its clause, and over a list of such words: "no errors, timeouts and problems".
    """
    words = [word for clause in clauses(answer) for word in clause[1]]
    return any(kind == "open" or (kind == "failure" and not is_denied) for kind, is_denied in words)


def denies_an_effect(answer: str) -> bool:
    """Whether an answer says plainly that something was not done: "Nothing was saved", "The deal was not created"."""
    plain = _QUOTED.sub(" ", answer)
    return claim_of(answer) == "failure" and any(_denies(words) for _, words in clauses(plain))


def _denies(words: Sequence[tuple[str, bool]]) -> bool:
    """Whether a clause denies an effect: not a failure, and not that anything is done again or left to do."""
    kinds = [kind for kind, _ in words]
    return "denial" in kinds and ("failure", True) not in words and ("vague", True) not in words


Clause: TypeAlias = tuple[str, list[tuple[str, bool]]]
"""The text of a clause, and its words of `answers` in the lexicon: the kind, and whether the clause denies it."""


def clauses(answer: str) -> Iterator[Clause]:
    text = answer.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words: list[tuple[str, bool]] = []
    start, is_denied, has_denied = 0, False, False
    for token in _tokens().finditer(text):
        kind = str(token.lastgroup)
        if kind == "denied_after":
            words.append(("failure", True))
        elif kind in ("failure", "success", "open", "vague"):
            words.append((kind, is_denied))
            has_denied = has_denied or is_denied
        elif kind == "denial":
            words.append((kind, False))
            is_denied = True
        elif not (kind == "item" and has_denied):
            yield text[start : token.end()], words
            start, words, is_denied, has_denied = token.end(), [], False, False
    yield text[start:], words


def _signs(clause: Clause) -> Iterator[str]:
    """Yield what a clause is a sign of."""
    text, words = clause
    kinds = {kind for kind, is_denied in words if not is_denied}
    denied = {kind for kind, is_denied in words if is_denied}
    if text.rstrip().endswith("?"):
        yield "question"
    if "open" in kinds | denied:
        yield "open"
    elif "vague" in kinds | denied:
        if "vague" in kinds and not text.rstrip().endswith("?"):
            yield "unclear"
    elif _denies(words):
        yield "failure"
    elif "failure" in kinds:
        yield "unclear" if _states_before_failure(text) else "failure"
    elif "success" in kinds:
        yield "success"
    elif _STATEMENT.search(text):
        yield "statement"


def _states_before_failure(text: str) -> bool:
    """Whether a clause states an effect before its word for a failure: "It was created despite a timeout"."""
    for token in _tokens().finditer(text):
        if token.lastgroup == "success":
            return True
        if token.lastgroup == "failure":
            return bool(_PARTICIPLE.search(text[: token.start()]))
    return False


@cache
def _tokens() -> re.Pattern[str]:
    """Return the expression for the words of `answers` in the lexicon, and for boundaries of clauses."""
    failure, success, open_, vague, denial, start, small = (
        _alternatives(f"answers.{name}")
        for name in ("failure", "success", "open", "vague", "denial", "clause_starts", "list_words")
    )
    denied = rf"(?:(?<![\w.,:])|(?<=\w)(?=n't))(?:{denial})(?!\w|[.,:]\d)"
    listed = rf"(?:,|\band\b)(?=\s*(?:(?:{small})\s+)*(?:{failure})(?!\w))"
    return re.compile(
        rf"(?P<denied_after>\b(?:{failure})\s*[:=]\s*(?:{denial})(?!\w|[.,:]\d))"
        rf"|(?P<open>\b(?:{open_})(?!\w))|(?P<failure>\b(?:{failure})(?!\w))|(?P<success>\b(?:{success})(?!\w))"
        rf"|(?P<vague>\b(?:{vague})(?!\w))"
        rf"|(?P<denial>{denied})|(?P<item>{listed})"
        rf"|(?P<boundary>\b(?:{start})\b|[.,:](?!\d)|[;!?()\n\u2013\u2014]|\s-\s)",
        re.IGNORECASE,
    )


def _alternatives(path: str) -> str:
    words = sorted(terms(path), key=len, reverse=True)
    return "|".join(re.escape(word).replace("_", r"\s+") for word in words)
