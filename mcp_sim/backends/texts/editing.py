"""Operations that count and change texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from mcp_sim.backends.compute.operation import NUMBER, TEXT, Arguments, ComputeContext, Operation, phrases, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary, words

SUBJECT = role("text", TEXT, "input, string, content, str, data, value, message, input_text, source_text, document")
_PLACES = ("result", "text", "output", "value")
MAX_LENGTH = 10_000_000
"""The largest number of characters of a text that is composed of others."""


def from_arguments(compute: Callable[[Arguments], Json]) -> Callable[[Arguments, ComputeContext], Json]:
    return lambda arguments, _context: compute(arguments)


def on_text(change: Callable[[str], Json]) -> Callable[[Arguments, ComputeContext], Json]:
    return lambda arguments, _context: change(str(arguments["text"]))


def _cased(arguments: Arguments) -> str:
    text, wanted = str(arguments["text"]), str(arguments["case"]).lower().replace("case", "").strip(" _-")
    parts = words(text)
    forms: dict[str, str] = {
        "upper": text.upper(), "lower": text.lower(), "title": text.title(),
        "sentence": text[:1].upper() + text[1:].lower(),
        "capitalize": text.capitalize(), "snake": "_".join(parts), "kebab": "-".join(parts), "swap": text.swapcase(),
        "camel": "".join([*parts[:1], *(part.title() for part in parts[1:])]),
        "pascal": "".join(part.title() for part in parts),
        "constant": "_".join(parts).upper(),
    }  # fmt: skip
    if wanted not in forms:
        raise Refused("invalid", f"Unknown case {arguments['case']!r}. Supported: {', '.join(forms)}")
    return forms[wanted]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _counts(text: str) -> Json:
    found = text.split()
    sentences = [part for part in re.split(r"[.!?]+(?:\s|$)", text) if part.strip()]
    return {
        "characters": len(text),
        "characters_without_spaces": len(re.sub(r"\s", "", text)),
        "words": len(found),
        "sentences": len(sentences),
        "lines": len(text.splitlines()),
        "paragraphs": len([part for part in re.split(r"\n\s*\n", text) if part.strip()]),
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise Refused("invalid", "Invalid JSON: it nests too deeply") from None
    except ValueError as wrong:
        raise Refused("invalid", f"Invalid JSON: {wrong}") from None


def _is_json(text: str) -> Json:
    try:
        _parsed(text)
    except Refused as wrong:
        return {"valid": False, "error": str(wrong).removeprefix("Invalid JSON: ")}
    return {"valid": True}


def _filled(arguments: Arguments) -> str:
    values, template = {name: str(value) for name, value in arguments["values"].items()}, str(arguments["template"])
    wanted = re.findall(r"{{?\s*(\w+)\s*}?}", template)
    lacking = [name for name in wanted if name not in values]
    if lacking:
        raise Refused("invalid", f"Missing values for {', '.join(dict.fromkeys(lacking))}")
    if len(template) + sum(len(values[name]) for name in wanted) > MAX_LENGTH:
        raise Refused("invalid", f"The result is too long; at most {MAX_LENGTH:,} characters are possible")
    return re.sub(r"{{?\s*(\w+)\s*}?}", lambda hit: values[hit[1]], template)


_ABOUT_TEXT = vocabulary("text string texts strings word words sentence content document characters lines")
COUNT = role(
    "count", NUMBER, "n, number, amount, quantity, num, limit, top_n, max_keywords, num_keywords", optional=True
)


def text_operation(
    name: str,
    known_as: str,
    roles: Sequence[Any],
    compute: Callable[[Arguments, ComputeContext], Json],
    *places: str,
    hints: frozenset[str] = frozenset(),
    excludes: frozenset[str] = frozenset(),
) -> Operation:
    return Operation(name, phrases(known_as), roles, compute, (*places, *_PLACES), hints, excludes)


OPERATIONS: tuple[Operation, ...] = (
    text_operation(
        "echo",
        "echo, echo_message, repeat_message, parrot",
        (SUBJECT,),
        on_text(str),
        "echo",
        "message",
        excludes=vocabulary("file files terminal"),
    ),
    text_operation(
        "count_words",
        "count_words, word_count, wordcount, count_word",
        (SUBJECT,),
        on_text(lambda t: len(t.split())),
        "count",
        "word_count",
        "words",
    ),
    text_operation(
        "count_characters",
        ("count_characters, character_count, char_count, string_length, text_length, count_chars, length"),
        (SUBJECT,),
        on_text(len),
        "count",
        "length",
    ),
    text_operation(
        "count_lines", "count_lines, line_count", (SUBJECT,), on_text(lambda t: len(t.splitlines())), "count", "lines"
    ),
    text_operation(
        "text_statistics", "text_stats, text_statistics, analyze_text, count_text", (SUBJECT,), on_text(_counts)
    ),
    text_operation("counts", "count", (SUBJECT,), on_text(_counts), hints=vocabulary("character characters bytes")),
    text_operation(
        "upper",
        "uppercase, to_uppercase, to_upper, upper, upper_case, convert_to_uppercase",
        (SUBJECT,),
        on_text(str.upper),
    ),
    text_operation(
        "lower",
        "lowercase, to_lowercase, to_lower, lower, lower_case, convert_to_lowercase",
        (SUBJECT,),
        on_text(str.lower),
    ),
    text_operation("title", "title_case, titlecase, to_title_case, capitalize", (SUBJECT,), on_text(str.title)),
    text_operation(
        "case",
        "convert_case, change_case, case_convert, transform_case, case_converter",
        (SUBJECT, role("case", TEXT, "case_type, target_case, to_case, format, style, mode")),
        from_arguments(_cased),
    ),
    text_operation(
        "reverse",
        "reverse, reverse_text, reverse_string, text_reverse",
        (SUBJECT,),
        on_text(lambda t: t[::-1]),
        "reversed",
        hints=_ABOUT_TEXT,
    ),
    text_operation(
        "trim", "trim, strip, trim_text, strip_whitespace", (SUBJECT,), on_text(str.strip), hints=_ABOUT_TEXT
    ),
    text_operation(
        "slug",
        "slugify, slug, generate_slug, create_slug",
        (role("text", TEXT, "title, input, string, name"),),
        on_text(_slug),
        "slug",
    ),
    text_operation(
        "format_json",
        ("format_json, json_format, pretty_print_json, beautify_json, prettify_json, json_pretty"),
        (role("text", TEXT, "json, json_string, json_text, input, data, json_str"),),
        on_text(lambda t: json.dumps(_parsed(t), indent=2, ensure_ascii=False)),
        "formatted",
    ),
    text_operation(
        "validate_json",
        "validate_json, json_validate, is_valid_json, check_json",
        (role("text", TEXT, "json, json_string, json_text, input, data, json_str"),),
        on_text(_is_json),
        "valid",
        "is_valid",
    ),
    text_operation(
        "fill_template",
        "fill_template, render_template, format_template, apply_template",
        (
            role("template", TEXT, "text, template_string"),
            role("values", frozenset({"object"}), "variables, data, params, parameters, context"),
        ),
        from_arguments(_filled),
        "rendered",
    ),
)
