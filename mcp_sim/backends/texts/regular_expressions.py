"""Operations with regular expressions, and repetition and comparison of texts."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from mcp_sim.backends.compute.operation import NUMBER, TEXT, Arguments, Operation, role
from mcp_sim.backends.compute.text_changes import line_diff
from mcp_sim.backends.patterns import compile_expression
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.texts.editing import MAX_LENGTH, SUBJECT, from_arguments, text_operation
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

_MOST_MATCHES = 1_000
_MOST_PAIRS = 4_000_000
_PATTERN = role("pattern", TEXT, "regex, regexp, expression, regular_expression, re", positional=False)
_FLAGS = role("flags", TEXT, "modifiers, options", optional=True, positional=False)
_INSTEAD = role("replacement", TEXT, "replace, replace_with, new_text, substitute, repl", positional=False)
_TIMES = role("count", NUMBER, "times, n, repetitions, number, repeat, number_of_times")
_BETWEEN = role("separator", TEXT, "sep, delimiter, joiner", optional=True, positional=False)


def _compiled(arguments: Arguments) -> Any:
    return compile_expression(str(arguments["pattern"]), ignores_case="i" in str(arguments.get("flags", "")))


def _text(arguments: Arguments) -> str:
    return str(arguments["text"]).encode("utf-8", "replace").decode()


def _found(arguments: Arguments) -> Json:
    hits = islice(_compiled(arguments).finditer(_text(arguments)), _MOST_MATCHES)
    matches = [{"match": hit[0], "index": hit.start(), "groups": [*hit.groups()]} for hit in hits]
    return {"matches": matches, "count": len(matches)}


def _is_there(arguments: Arguments) -> bool:
    return _compiled(arguments).search(_text(arguments)) is not None


def _replaced(arguments: Arguments) -> str:
    """Replace all matches. The replacement may refer to groups as `$1` or `\\1`."""
    instead = re.sub(r"\$(\d)", r"\\\1", str(arguments["replacement"]))
    pieces, most = list[str](), 0
    text, end = _text(arguments), 0
    for hit in _compiled(arguments).finditer(text):
        pieces += [text[end : hit.start()], _filled(instead, hit)]
        end, most = hit.end(), most + len(pieces[-1])
        if most > MAX_LENGTH:
            raise _too_long()
    return "".join([*pieces, text[end:]])


def _filled(instead: str, hit: Any) -> str:
    """Fill the groups of a match into its replacement. Missing groups are empty."""
    groups = [hit[0], *hit.groups()]
    return re.sub(r"\\(\d)", lambda one: (groups[int(one[1])] or "") if int(one[1]) < len(groups) else "", instead)


def _repeated(arguments: Arguments) -> str:
    text, times = str(arguments["text"]), max(0, int(arguments["count"]))
    between = str(arguments.get("separator", ""))
    if (len(text) + len(between)) * times > MAX_LENGTH:
        raise _too_long()
    return between.join([text] * times)


def _distance(arguments: Arguments) -> int:
    """Return the Levenshtein distance of two texts."""
    one, other = str(arguments["first"]), str(arguments["second"])
    if len(one) * len(other) > _MOST_PAIRS:
        raise _too_long()
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one, 1):
        before, row = row, [at]
        for place, other_sign in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (sign != other_sign)))
    return row[-1]


def _too_long() -> Refused:
    return Refused("invalid", f"The result is too long; at most {MAX_LENGTH:,} characters are possible")


_TWO = (
    role("first", TEXT, "text1, text_1, a, old, old_text, original, before, left, string1, str1, source, text_a",
         positional=False),
    role("second", TEXT, "text2, text_2, b, new, new_text, modified, after, right, string2, str2, target, text_b",
         positional=False),
)  # fmt: skip

OPERATIONS: tuple[Operation, ...] = (
    text_operation(
        "regex_match",
        "regex_match, match_regex, regex_find, find_regex, regex_search, regex_extract, extract_regex, regex_find_all, "
        "find_matches, match_pattern, extract_pattern, regex_matches, regex_match_all, match_all_regex",
        (SUBJECT, _PATTERN, _FLAGS),
        from_arguments(_found),
    ),
    text_operation(
        "regex_test",
        "regex_test, test_regex, is_match, matches_regex, check_regex, matches_pattern",
        (SUBJECT, _PATTERN, _FLAGS),
        from_arguments(_is_there),
        "matches",
        "match",
        "is_match",
        "matched",
    ),
    text_operation(
        "regex_replace",
        "regex_replace, replace_regex, regex_substitute, replace_pattern",
        (SUBJECT, _PATTERN, _INSTEAD, _FLAGS),
        from_arguments(_replaced),
    ),
    text_operation(
        "text_difference",
        "diff, text_diff, diff_text, diff_texts, compare_text, compare_texts, text_compare, diff_strings",
        _TWO,
        from_arguments(lambda arguments: line_diff(str(arguments["first"]), str(arguments["second"]))),
        "diff",
        "difference",
        hints=vocabulary("text texts string strings"),
    ),
    text_operation(
        "edit_distance",
        "distance, edit_distance, levenshtein, levenshtein_distance, string_distance, diff_distance",
        _TWO,
        from_arguments(_distance),
        "distance",
    ),
    text_operation(
        "repeat",
        "repeat_text, repeat_string, text_repeat, string_repeat",
        (SUBJECT, _TIMES, _BETWEEN),
        from_arguments(_repeated),
        "repeated",
    ),
)
