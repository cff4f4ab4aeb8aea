"""The operations of compute: what they are called, their roles, and the properties that hold their results."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from mcp_sim.backends.compute.phrases import Called
from mcp_sim.backends.operation import Operation, compact, pick, read_names

Compute: TypeAlias = Callable[..., Any] | str
"""Computes a result from the values of the roles, in their order; a text names the function: `module:function`."""

ANSWER = "answer"
"""The name of the only fact of a result."""
PRECISION = "precision"
"""The role of the number of decimal places of a result. It is not a value of the computation."""
GUESSES = frozenset({"summarize", "extract_keywords", "sentiment", "translate"})
"""Operations whose results are guesses."""

_WORDS = read_names(__name__)
_PLACES = ("result", "value", "output", "answer", "text")
"""Properties that may hold the result of any operation."""


def _formula(explanation: str, compute: Callable[[Any], Any] | Callable[[Any, Any], Any] | str) -> Callable[..., Any]:
    """Return a function with this docstring. A text names a function, `module:function`, imported at the first call."""
    function: Any = compute

    def formula(*values: Any) -> Any:
        return (_imported(function) if isinstance(function, str) else function)(*values)

    formula.__doc__ = explanation
    return formula


def _imported(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)


def _operation(
    name: str,
    compute: Compute,
    takes: str,
    *,
    called: Sequence[str] = (),
    shown: Sequence[str] = (),
    hints: str = "",
    excludes: str = "",
) -> Operation:
    """Return an operation with the roles of a line.

    `called` are other names of tools that mean it, `shown` are properties that may hold the result; both are in
    `names.txt` unless they are given. `hints` and `excludes` are names of lists there.
    """
    called = (*(called or _WORDS.lists.get(f"called.{name}", ())), name)
    means = Called(
        frozenset(map(compact, called)),
        _WORDS.terms(hints) if hints else frozenset(),
        _WORDS.terms(excludes) if excludes else frozenset(),
    )
    run: Any = compute
    names = {ANSWER: (*(shown or _WORDS.facts.get(name, ())), *_PLACES, name)}
    return Operation(name, run, roles=pick(takes, _WORDS.roles), means=means, names=names)


def _hashing(algorithm: str) -> tuple[str, ...]:
    """Return names of tools that hash a text by an algorithm."""
    return (f"{algorithm}_hash", f"hash_{algorithm}", f"generate_{algorithm}", f"compute_{algorithm}")


ARITHMETIC: tuple[Operation, ...] = (
    _operation("add", _formula("Add two numbers.", operator.add), "a b precision?"),
    _operation("subtract", _formula("Subtract b from a.", operator.sub), "a b precision?"),
    _operation("multiply", _formula("Multiply two numbers.", operator.mul), "a b precision?"),
    _operation("divide", _formula("Divide a by b.", lambda a, b: a / b), "a b precision?"),
    _operation("modulo", _formula("Return the remainder of a / b.", operator.mod), "a b precision?"),
    _operation("gcd", "arithmetic:gcd", "a b precision?"),
    _operation("lcm", "arithmetic:lcm", "a b precision?"),
    _operation("hypotenuse", _formula("Return the hypotenuse of a right triangle.", math.hypot), "a b precision?"),
    _operation("larger", _formula("Return the larger one of two numbers.", max), "a b precision?"),
    _operation("smaller", _formula("Return the smaller one of two numbers.", min), "a b precision?"),
    _operation("power", "arithmetic:power", "base exponent precision?"),
    _operation("logarithm", "arithmetic:logarithm", "value logarithm_base? precision?"),
    _operation("nth_root", "arithmetic:nth_root", "number degree precision?"),
    _operation("square_root", _formula("Return the square root of a number.", math.sqrt), "number precision?"),
    _operation("cube_root", _formula("Return the cube root of a number.", math.cbrt), "number precision?"),
    _operation("square", "arithmetic:square", "number precision?"),
    _operation("cube", "arithmetic:cube", "number precision?"),
    _operation("absolute", _formula("Return a number without its sign.", abs), "number precision?"),
    _operation("negate", _formula("Return a number with the opposite sign.", operator.neg), "number precision?"),
    _operation("reciprocal", _formula("Divide 1 by a number.", lambda number: 1 / number), "number precision?"),
    _operation("floor", _formula("Round down to an integer.", math.floor), "number precision?"),
    _operation("ceiling", _formula("Round up to an integer.", math.ceil), "number precision?"),
    _operation("exponential", _formula("Return a power of e.", math.exp), "number precision?"),
    _operation("log10", _formula("Return the logarithm to base 10.", math.log10), "number precision?"),
    _operation("log2", _formula("Return the logarithm to base 2.", math.log2), "number precision?"),
    _operation("factorial", "arithmetic:factorial", "number precision?"),
    _operation("fibonacci", "arithmetic:fibonacci", "number precision?"),
    _operation("is_prime", "arithmetic:is_prime", "number precision?"),
    _operation("sine", _formula("Return the sine of an angle in radians.", math.sin), "number precision?"),
    _operation("cosine", _formula("Return the cosine of an angle in radians.", math.cos), "number precision?"),
    _operation("tangent", _formula("Return the tangent of an angle in radians.", math.tan), "number precision?"),
    _operation("radians_to_degrees", _formula("Convert radians to degrees.", math.degrees), "number precision?"),
    _operation("degrees_to_radians", _formula("Convert degrees to radians.", math.radians), "number precision?"),
    _operation("round", "arithmetic:round_to", "number places?"),
    _operation(
        "percentage",
        _formula("Return what percentage of a whole a part is.", lambda value, whole: value / whole * 100),
        "part whole precision?",
    ),
    _operation(
        "percent_of",
        _formula("Return a percentage of a number.", lambda percent, number: percent / 100 * number),
        "percent percent_of_number precision?",
    ),
    _operation(
        "percent_change",
        _formula("Return a change in percent.", lambda old, new: (new - old) / abs(old) * 100),
        "old new precision?",
    ),
    _operation(
        "convert_unit", "units:convert_unit", "convert_unit_value source target precision?", excludes="not.convert_unit"
    ),
    _operation("convert_base", "arithmetic:convert_base", "convert_base_value convert_base_source convert_base_target"),
    _operation(
        "calculate", "expressions:calculate", "expression precision?", hints="about.calculate", excludes="not.calculate"
    ),
    _operation("sum", _formula("Return the sum of numbers.", math.fsum), "numbers precision?"),
    _operation("product", _formula("Return the product of numbers.", math.prod), "numbers precision?"),
    _operation("mean", _formula("Return the arithmetic mean.", "statistics:fmean"), "numbers precision?"),
    _operation(
        "median",
        _formula("Return the middle number, or the mean of the middle two.", "statistics:median"),
        "numbers precision?",
    ),
    _operation(
        "mode",
        _formula("Return the most frequent number, the first of several.", "statistics:mode"),
        "numbers precision?",
    ),
    _operation("minimum", _formula("Return the smallest number.", min), "numbers precision?"),
    _operation("maximum", _formula("Return the largest number.", max), "numbers precision?"),
    _operation(
        "range",
        _formula("Return the maximum minus the minimum.", lambda numbers: max(numbers) - min(numbers)),
        "numbers precision?",
    ),
    _operation(
        "variance",
        _formula(
            "Return the variance of a population.", lambda numbers: float(_imported("statistics:pvariance")(numbers))
        ),
        "numbers precision?",
    ),
    _operation(
        "sample_variance",
        _formula("Return the variance of a sample.", lambda numbers: float(_imported("statistics:variance")(numbers))),
        "numbers precision?",
    ),
    _operation(
        "standard_deviation",
        _formula("Return the standard deviation of a population.", "statistics:pstdev"),
        "numbers precision?",
    ),
    _operation(
        "sample_standard_deviation",
        _formula("Return the standard deviation of a sample.", "statistics:stdev"),
        "numbers precision?",
    ),
    _operation("sort", _formula("Return numbers in ascending order.", sorted), "numbers precision?"),
    _operation("statistics", "arithmetic:statistics", "numbers precision?"),
)

DATES: tuple[Operation, ...] = (
    _operation("now", "dates:now", "timezone? format?"),
    _operation("convert_time", "dates:convert_time", "time convert_time_source convert_time_target"),
    _operation("add_to_date", "dates:add_to_date", "date? amount? unit? years? months? weeks? days? hours? minutes?"),
    _operation(
        "subtract_from_date",
        "dates:subtract_from_date",
        "date? amount? unit? years? months? weeks? days? hours? minutes?",
    ),
    _operation(
        "date_difference", "dates:date_difference", "first second date_difference_unit?", hints="about.date_difference"
    ),
    _operation("format_date", "dates:format_date", "date format_date_format timezone?"),
    _operation("day_of_week", "dates:day_of_week", "date"),
    _operation("week_number", "dates:week_number", "date"),
    _operation("is_weekend", "dates:is_weekend", "date"),
    _operation("to_timestamp", "dates:to_timestamp", "date"),
    _operation("from_timestamp", "dates:from_timestamp", "timestamp timezone?"),
    _operation("age", "dates:age", "age_date"),
    _operation("is_leap_year", "dates:is_leap_year", "year"),
    _operation("days_in_month", "dates:days_in_month", "year month"),
    _operation("month_days", "dates:month_days", "date?"),
    _operation("list_timezones", "dates:list_timezones", "filter?"),
)

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "crc32")
"""Hash algorithms."""

TEXTS: tuple[Operation, ...] = (
    _operation("echo", _formula("Return a text.", str), "text", excludes="not.echo"),
    _operation("count_words", _formula("Count the words of a text.", lambda text: len(text.split())), "text"),
    _operation("count_characters", _formula("Count the characters of a text.", len), "text"),
    _operation("count_lines", _formula("Count the lines of a text.", lambda text: len(text.splitlines())), "text"),
    _operation("text_statistics", "texts:text_statistics", "text"),
    _operation("text_statistics", "texts:text_statistics", "text", called=("count",), hints="about.text_statistics"),
    _operation("upper", _formula("Return a text in upper case.", str.upper), "text"),
    _operation("lower", _formula("Return a text in lower case.", str.lower), "text"),
    _operation("title_case", _formula("Begin each word with a capital.", str.title), "text"),
    _operation("convert_case", "texts:convert_case", "text case"),
    _operation("reverse", _formula("Return a text backwards.", lambda text: text[::-1]), "text", hints="about.reverse"),
    _operation("trim", _formula("Remove white space around a text.", str.strip), "text", hints="about.reverse"),
    _operation(
        "slug",
        _formula(
            "Return a text as a part of an address: lower case letters, digits and hyphens.",
            lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
        ),
        "slug_text",
    ),
    _operation("format_json", "texts:format_json", "json"),
    _operation("validate_json", "texts:validate_json", "json"),
    _operation("fill_template", "texts:fill_template", "template values"),
    _operation("base64_encode", "texts:base64_encode", "text"),
    _operation("base64_decode", "texts:base64_decode", "base64_decode_text"),
    _operation(
        "url_encode",
        _formula("Encode a text for an address.", lambda text: quote(text, safe="", errors="surrogatepass")),
        "encoded",
    ),
    _operation("url_decode", _formula("Decode a text from an address.", unquote), "encoded"),
    _operation("html_encode", _formula("Escape the signs of HTML.", "html:escape"), "encoded"),
    _operation("html_decode", _formula("Replace the references of HTML.", "html:unescape"), "encoded"),
    _operation("hash", "texts:hash_text", "text algorithm?"),
    _operation("hmac", "texts:keyed_hash", "text key algorithm?"),
    *(
        _operation(name, f"texts:{name}", "text", called=_hashing(name), shown=("hash", "digest"))
        for name in ALGORITHMS
    ),
    _operation("regex_match", "texts:regex_match", "text pattern flags?"),
    _operation("regex_test", "texts:regex_test", "text pattern flags?"),
    _operation("regex_replace", "texts:regex_replace", "text pattern replacement flags?"),
    _operation(
        "text_difference",
        "text_changes:line_diff",
        "text_difference_first text_difference_second",
        hints="about.text_difference",
    ),
    _operation("edit_distance", "texts:edit_distance", "text_difference_first text_difference_second"),
    _operation("repeat_text", "texts:repeat_text", "text repeat_text_count separator?"),
    _operation("summarize", "texts:summarize", "text length? sentences? style?"),
    _operation("extract_keywords", "texts:extract_keywords", "text count?"),
    _operation("sentiment", "texts:sentiment", "text"),
    _operation("translate", "texts:translate", "text translate_target translate_source?"),
    _operation("uuid", "randomness:uuid", "count? version?"),
    _operation("random_number", "randomness:random_number", "low? high? count?"),
    _operation("random_fraction", "randomness:random_fraction", "low? high?"),
    _operation("random_choice", "randomness:random_choice", "options"),
    _operation("shuffle", "randomness:shuffle", "options"),
    _operation("random_string", "randomness:random_string", "random_string_length? symbols?"),
    _operation("flip_coin", "randomness:flip_coin", ""),
    _operation("roll_dice", "randomness:roll_dice", "notation? sides? count?", hints="about.roll_dice"),
)

FAMILIES = (ARITHMETIC, DATES, TEXTS)
"""The operations by family. Of operations that a tool may mean equally, that of the first family is meant."""
