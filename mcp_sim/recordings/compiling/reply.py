"""Find the Python file in what a language model answers."""

from __future__ import annotations

import ast
import re

from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types.errors import Rejected

LONGEST = 400_000
"""The longest reply that is read, in characters."""

_THINKING = re.compile(r"\A\s*(?:<think(?:ing)?>)?.*?</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<text>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_FIRST_LINE = re.compile(r'^(?:"""|from |import |tables\b|@tool\b|def )', re.MULTILINE)
_TOOL = re.compile(r"^@\w[\w.]*", re.MULTILINE)


def program_in(reply: Reply) -> str:
    """Return the Python file in a reply: without reasoning, prose and fences.

    Raises `Rejected`, with a message for the model, if it is missing or it is cut off.
    """
    if reply.finish_reason == "length":
        raise Rejected(reply.content, ["The reply was cut off at the token limit. Write the whole file more briefly."])
    if len(reply.content) > LONGEST:
        raise Rejected(reply.content, [f"The reply has over {LONGEST:,} characters. Write one file, more briefly."])
    content = reply.content.replace("\r\n", "\n").replace("\r", "\n")  # all three end a line of Python
    text = _THINKING.sub("", content, count=1) if "</think" in content else content
    blocks = [match["text"] for match in _FENCED.finditer(text)]
    program = _best(blocks) if blocks else _unfenced(text)
    if program is None:
        raise Rejected(reply.content, ["The reply has no Python file. Answer with one fenced block of Python."])
    return f"{program.strip()}\n"


def _best(blocks: list[str]) -> str | None:
    """Return the block that is most likely the file: one with functions for tools, valid Python, the longest."""
    return max(blocks, key=lambda block: (_TOOL.search(block) is not None, _is_python(block), len(block)), default=None)


def _unfenced(text: str) -> str | None:
    """Return a file that is written without a fence, perhaps after some prose."""
    first = _FIRST_LINE.search(text)
    if first is None or _TOOL.search(text) is None:
        return None
    return text[first.start() :]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
