"""Texts of the pages of a fictional world that a language model words, checked against those made from its rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from hashlib import sha256

import anyio

from mcp_sim.libraries.search.pages import numbers_in
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.types import Record
from mcp_sim.types.errors import Unanswered

_AT_ONCE = 16  # requests at a time, as many as an engine usually batches
_ATTEMPTS = 2
"""How often a page is asked for. A model that changed a fact twice would rather change it again."""
_LONGEST = 4  # how many times as long as the facts a text may be, so that an engine that runs on cannot fill the world
_LEAST = 400  # characters that a text may have however few the facts are
_SYSTEM = (
    "You write the text of a web page from facts. Use every fact, keep each name and number as it is written, and add "
    "no other name, number, date or year. Write one to three short paragraphs of plain text, without a heading."
)


async def write_texts(
    pages: Sequence[Record], names: Collection[str], ask: Ask, seed: int, on_progress: Callable[[int, str], None]
) -> Record:
    """Return a text for each page whose text of a model has the same names and numbers as the page. `names`: all names.

    Raises `Unanswered` if the model does not answer.
    """
    texts, failures, waiting = dict[str, str](), list[Unanswered](), iter(enumerate(pages))

    async def work() -> None:
        for number, page in waiting:
            if failures:
                return
            try:
                text = await _text(page, names, ask, seed)
            except Unanswered as error:
                failures.append(error)
                return
            if text is not None:
                texts[page["url"]] = text
            on_progress(number + 1, page["url"])

    async with anyio.create_task_group() as workers:
        for _ in range(_AT_ONCE):
            workers.start_soon(work)
    if failures:
        raise failures[0]
    return {page["url"]: texts[page["url"]] for page in pages if page["url"] in texts}


async def _text(page: Record, names: Collection[str], ask: Ask, seed: int) -> str | None:
    facts = page["text"].removeprefix(f"# {page['title']}").strip()
    messages = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": f"Title: {page['title']}\n\nFacts:\n{facts}"},
    ]
    for attempt in range(_ATTEMPTS):
        sampled = int(sha256(f"{seed} {page['url']} {attempt}".encode()).hexdigest()[:7], 16)
        reply = await ask(Request(messages, None, sampled, page["url"]))
        text = reply.content.rpartition("</think>")[2].strip()
        is_short = len(text) <= max(_LEAST, _LONGEST * len(facts))
        if text and is_short and _shown(text, names) == _shown(facts, names):
            return text
    return None


def _shown(text: str, names: Collection[str]) -> tuple[frozenset[float], frozenset[str]]:
    """Return the numbers and the names that a text shows. A text with those of the facts contradicts none of them."""
    return frozenset(numbers_in(text)), frozenset(name for name in names if name in text)
