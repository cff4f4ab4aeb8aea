"""What the descriptions of tools say about their results: prose, data, or only a key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from mcp_sim.types import Tool
from mcp_sim.types.domain import Example
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.terms import ordered
from mcp_sim.types.result_schemas import declares_data, documented_form, mentions_data, text_place

_FOR_PEOPLE = r"\b(?:human[- ]readable|markdown|formatted (?:string|text|list|output)|plain text)\b"
_PROSE = (
    rf"{_FOR_PEOPLE}|\b(?:success|confirmation|status) (?:message|string)\b|\breturns?:?\s*\n?\s*str\b|"
    r"\breturn(?:s|ing)?:?\s+(?:\w+ ){0,3}?a (?:\w+ ){0,2}?(?:message|sentence|string|text|summary)\b"
)
_ARGUMENTS = re.compile(
    rf"^[ \t]*[*#]*(?:{'|'.join(ordered('phrases.argument_headings'))})[*]*\s*[:：]"
    r".*?(?=(?:^[ \t]*[*#]*|[.;][ \t]+)(?:returns?|raises|yields|output|results?)\b|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""The part of a description that is about arguments, up to that about the result."""
_LEAST_WORDED = 0.1
"""The least share of tools that must describe sentences: of 14 recorded servers, 9 answer in JSON, and a few of their
tools render a page or return a message."""
_KEY = re.compile(
    r"\breturn(?:s|ing)?:?\s+(?:-+\s+)?(?:the |an? |its )?(?:(?!with\b|and\b|by\b|if\b)[\w']+ ){0,3}?"
    r"(?:id|identifier|uuid|\w+_id)\b(?! *(?:,|and\b|&|/|plus\b|or\b|if\b|as\b|in\b))",
    re.IGNORECASE,
)


def is_prose(description: str) -> bool:
    """Whether a description says that the result is for people to read, not data."""
    about_result = _ARGUMENTS.sub("", description)
    return re.search(_PROSE, about_result, re.IGNORECASE) is not None and not mentions_data(about_result)


def is_for_people(description: str) -> bool:
    """Whether a tool renders something for people, whatever the other tools of its server do."""
    about_result = _ARGUMENTS.sub("", description)
    return re.search(_FOR_PEOPLE, about_result, re.IGNORECASE) is not None and not mentions_data(about_result)


def worded_tools(tools: Mapping[str, Tool], examples: Sequence[Example]) -> set[str]:
    """Return the names of the tools that answer in sentences where nothing declares the form of their results.

    This is one decision for the whole server, except for tools whose docstrings name a type, that render something for
    people, or that declare a text where others declare data: an author who returns data returns it as it is. Most
    functions that return text return sentences (32 of 38 public servers in Python that mention no data). Still JSON is
    the default for them: where it is wrong, an agent finds the ids that later calls take. Where sentences are wrong, it
    does not.
    """
    bare = {name: tool for name, tool in tools.items() if tool.output_schema is None and not examples}
    documented = {name: documented_form(tool.description) for name, tool in bare.items()}
    known = {name: form in {"text", "confirmation"} for name, form in documented.items() if form is not None}
    if answers_in_prose([*tools.values()], examples):
        return {name for name in tools if known.get(name, True)}
    are_typed = any(map(declares_data, tools.values()))
    return {
        name
        for name, tool in tools.items()
        if known.get(name)
        or is_for_people(tool.description)
        or (are_typed and text_place(tool) is not None and not mentions_data(_about_result(tool)))
    }


def _about_result(tool: Tool) -> str:
    """Return the description without the parts about arguments, also paragraphs that begin with the name of one."""
    names = "|".join(map(re.escape, properties(tool.input_schema)))
    paragraphs = re.split(r"\n[ \t]*\n", _ARGUMENTS.sub("", tool.description))
    return "\n\n".join(text for text in paragraphs if not (names and re.match(rf"\s*(?:{names})\s*:", text)))


def answers_in_prose(tools: Sequence[Tool], examples: Iterable[Example]) -> bool:
    """Whether a server words its results in sentences. Examples show it, else more descriptions mention it than data.

    Where nothing shows it, results are JSON: so answer two of three servers, and a sentence shows no field.
    """
    shown = [isinstance(example.result, str) for example in examples if not example.is_blocks]
    if shown:
        return sum(shown) * 2 > len(shown)
    return _mentions(tools) > 0 and sum(is_prose(tool.description) for tool in tools) >= len(tools) * _LEAST_WORDED


def _mentions(tools: Collection[Tool]) -> int:
    """Return how many more tools mention sentences in their descriptions than data."""
    return sum(is_prose(tool.description) - mentions_data(_ARGUMENTS.sub("", tool.description)) for tool in tools)


def returns_key(description: str) -> bool:
    """Whether a description says that only the id of the new record is returned.

    Other paragraphs may show data that the arguments hold.
    """
    paragraphs = re.split(r"\n\s*\n", description)
    return any(_KEY.search(paragraph) and not mentions_data(paragraph) for paragraph in paragraphs)
