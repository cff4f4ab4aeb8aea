"""The operations of compute: what they are called, their roles, and the properties that hold their results."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from mcp_sim.backends.compute.phrases import Called, phrases
from mcp_sim.backends.operation import ANY, FLAG, LIST, NUMBER, NUMBERS, TEXT, Operation, Role, role
from mcp_sim.types.lexicon.english import vocabulary

Compute: TypeAlias = Callable[..., Any] | str
"""Computes a result from the values of the roles, in their order; a text names the function: `module:function`."""

ANSWER = "answer"
"""The name of the only fact of a result."""
PRECISION = "precision"
"""The role of the number of decimal places of a result. It is no value of the computation."""
GUESSES = frozenset({"summarize", "extract_keywords", "sentiment", "translate"})
"""Operations whose results are guesses."""

_PLACES = vocabulary("result value output answer text")


def _by_position(name: str, names: str = "", types: frozenset[str] = ANY) -> Role:
    return role(name, names, types, positional=True)


def _number(name: str, names: str) -> Role:
    return _by_position(name, names, NUMBER)


def _string(name: str, names: str) -> Role:
    return _by_position(name, names, TEXT)


def _optional(name: str, names: str = "", types: frozenset[str] = ANY) -> Role:
    return role(name, names, types, optional=True)


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
    name: str, compute: Compute, called: str, places: str = "", *roles: Role, hints: str = "", excludes: str = ""
) -> Operation:
    """Return an operation. `called` are tool names that mean it, `places` are properties that may hold the result."""
    means = Called(phrases(f"{called} {name}"), vocabulary(hints), vocabulary(excludes))
    shown = (*places.split(), *_PLACES, name)
    run: Any = compute
    return Operation(name, run, roles=roles, means=means, names={ANSWER: shown})


def _on(*roles: Role) -> Callable[..., Operation]:
    """Return a function that returns operations with these roles."""

    def operation(name: str, compute: Compute, called: str, places: str = "", **tests: str) -> Operation:
        return _operation(name, compute, called, places, *roles, **tests)

    return operation


_ONE = "number num n x a value input angle radians"
_PRECISION = _optional(PRECISION, "decimals decimal_places places digits ndigits", NUMBER)
_A = _number("a", "x n1 num1 number1 first first_number left augend minuend dividend numerator value1 operand1")
_B = _number("b", "y n2 num2 number2 second second_number right divisor denominator subtrahend value2 operand2")
_NUMBER = _by_position("number", _ONE, NUMBER)
_NUMBERS = _by_position("numbers", "values data nums list array items dataset samples", NUMBERS)
_of_two = _on(_A, _B, _PRECISION)
_of_one = _on(_NUMBER, _PRECISION)
_of_list = _on(_NUMBERS, _PRECISION)

ARITHMETIC: tuple[Operation, ...] = (
    _of_two("add", _formula("Add two numbers.", operator.add), "addition sum plus sum_of total", "sum total"),
    _of_two("subtract", _formula("Subtract b from a.", operator.sub), "subtraction minus sub difference", "difference"),
    _of_two("multiply", _formula("Multiply two numbers.", operator.mul), "multiplication times product mul", "product"),
    _of_two("divide", _formula("Divide a by b.", lambda a, b: a / b), "division div quotient divided_by", "quotient"),
    _of_two("modulo", _formula("Return the remainder of a / b.", operator.mod), "modulus mod remainder", "remainder"),
    _of_two("gcd", "arithmetic:gcd", "greatest_common_divisor hcf"),
    _of_two("lcm", "arithmetic:lcm", "least_common_multiple"),
    _of_two("hypotenuse", _formula("Return the hypotenuse of a right triangle.", math.hypot), "hypot pythagorean"),
    _of_two("larger", _formula("Return the larger one of two numbers.", max), "max maximum", "max"),
    _of_two("smaller", _formula("Return the smaller one of two numbers.", min), "min minimum", "min"),
    _operation("power", "arithmetic:power", "pow exponent exponentiate exponentiation raise_to_power exp_power", "",
               _number("base", "a x number value"), _number("exponent", "b y exp power n degree"), _PRECISION),
    _operation("logarithm", "arithmetic:logarithm", "log ln natural_log natural_logarithm", "",
               _by_position("value", _ONE, NUMBER), _optional("base", "b", NUMBER), _PRECISION),
    _operation("nth_root", "arithmetic:nth_root", "root", "root", _NUMBER, _number("degree", "n root index"),
               _PRECISION),
    _of_one("square_root", _formula("Return the square root of a number.", math.sqrt), "sqrt", "root"),
    _of_one("cube_root", _formula("Return the cube root of a number.", math.cbrt), "cbrt", "root"),
    _of_one("square", "arithmetic:square", "squared"),
    _of_one("cube", "arithmetic:cube", "cubed"),
    _of_one("absolute", _formula("Return a number without its sign.", abs), "absolute_value abs", "absolute_value"),
    _of_one("negate", _formula("Return a number with the opposite sign.", operator.neg), "negative opposite"),
    _of_one("reciprocal", _formula("Divide 1 by a number.", lambda number: 1 / number), "inverse_of"),
    _of_one("floor", _formula("Round down to an integer.", math.floor), "round_down"),
    _of_one("ceiling", _formula("Round up to an integer.", math.ceil), "ceil round_up"),
    _of_one("exponential", _formula("Return a power of e.", math.exp), "exp"),
    _of_one("log10", _formula("Return the logarithm to base 10.", math.log10), "log_10"),
    _of_one("log2", _formula("Return the logarithm to base 2.", math.log2), "log_2"),
    _of_one("factorial", "arithmetic:factorial", ""),
    _of_one("fibonacci", "arithmetic:fibonacci", "fib nth_fibonacci"),
    _of_one("is_prime", "arithmetic:is_prime", "prime check_prime prime_check", "prime"),
    _of_one("sine", _formula("Return the sine of an angle in radians.", math.sin), "sin"),
    _of_one("cosine", _formula("Return the cosine of an angle in radians.", math.cos), "cos"),
    _of_one("tangent", _formula("Return the tangent of an angle in radians.", math.tan), "tan"),
    _of_one("radians_to_degrees", _formula("Convert radians to degrees.", math.degrees), "", "degrees"),
    _of_one("degrees_to_radians", _formula("Convert degrees to radians.", math.radians), "", "radians"),
    _operation("round", "arithmetic:round_to", "round_off rounded", "rounded", _NUMBER,
               _optional("places", "precision decimals decimal_places digits ndigits", NUMBER)),
    _operation("percentage",
               _formula("Return what percentage of a whole a part is.", lambda part, whole: part / whole * 100),
               "percent calculate_percent", "", _number("part", "a value amount numerator"),
               _number("whole", "b total denominator"), _PRECISION),
    _operation("percent_of",
               _formula("Return a percentage of a number.", lambda percent, number: percent / 100 * number),
               "percentage_of", "", _number("percent", "percentage rate a"),
               _number("number", "value of b total amount"), _PRECISION),
    _operation("percent_change", _formula("Return a change in percent.", lambda old, new: (new - old) / abs(old) * 100),
               "percentage_change percentage_difference growth_rate", "change",
               _number("old", "old_value from initial start a before"),
               _number("new", "new_value to final end b after"), _PRECISION),
    _operation("convert_unit", "units:convert_unit",
               "convert conversion unit_conversion unit_converter convert_measurement convert_length convert_weight "
               "convert_temperature convert_volume convert_mass convert_speed convert_distance convert_area "
               "convert_time_unit convert_energy convert_pressure", "converted converted_value",
               _number("value", "amount quantity number temperature length weight distance"),
               _string("source", "from_unit from source_unit input_unit unit_from origin_unit"),
               _string("target", "to_unit to target_unit output_unit unit_to desired_unit"), _PRECISION,
               excludes="currency currencies exchange timezone encoding token"),
    _operation("convert_base", "arithmetic:convert_base",
               "base base_convert base_conversion number_base convert_number_base radix convert_radix", "converted",
               role("value", "number input digits"),
               role("source", "from from_base source_base base_from input_base", NUMBER),
               role("target", "to to_base target_base base_to output_base", NUMBER)),
    _operation("calculate", "expressions:calculate",
               "calc calculator evaluate evaluate_expression calculate_expression math compute eval eval_expression "
               "math_expression evaluate_math expression arithmetic compute_expression", "",
               _string("expression", "expr formula equation calculation input query math"), _PRECISION,
               hints="math maths mathematical mathematics arithmetic calculate calculates calculation calculator "
                     "numeric", excludes="javascript debugger gdb page frame sql xpath sympy symbolic"),
    _of_list("sum", _formula("Return the sum of numbers.", math.fsum), "sum_all total add add_up", "total"),
    _of_list("product", _formula("Return the product of numbers.", math.prod), "multiply"),
    _of_list("mean", _formula("Return the arithmetic mean.", "statistics:fmean"), "average avg arithmetic_mean",
             "average"),
    _of_list("median", _formula("Return the middle number, or the mean of the middle two.", "statistics:median"), ""),
    _of_list("mode", _formula("Return the most frequent number, the first of several.", "statistics:mode"), ""),
    _of_list("minimum", _formula("Return the smallest number.", min), "min smallest lowest", "min"),
    _of_list("maximum", _formula("Return the largest number.", max), "max largest highest", "max"),
    _of_list("range", _formula("Return the maximum minus the minimum.", lambda numbers: max(numbers) - min(numbers)),
             ""),
    _of_list("variance",
             _formula("Return the variance of a population.",
                      lambda numbers: float(_imported("statistics:pvariance")(numbers))), "population_variance"),
    _of_list("sample_variance",
             _formula("Return the variance of a sample.",
                      lambda numbers: float(_imported("statistics:variance")(numbers))), "", "variance"),
    _of_list("standard_deviation", _formula("Return the standard deviation of a population.", "statistics:pstdev"),
             "std stddev std_dev stdev population_standard_deviation", "std_dev"),
    _of_list("sample_standard_deviation", _formula("Return the standard deviation of a sample.", "statistics:stdev"),
             "", "std_dev standard_deviation"),
    _of_list("sort", _formula("Return numbers in ascending order.", sorted), "sorted", "sorted"),
    _of_list("statistics", "arithmetic:statistics", "stats descriptive_statistics summary_statistics describe"),
)  # fmt: skip


_DATES = "date_string date_str start_date base_date datetime timestamp day start from_date input_date time"
_DATE = _by_position("date", _DATES, TEXT)
_DATE_OR_NOW = _optional("date", _DATES, TEXT)
_ZONE = _optional("timezone", "tz time_zone timezone_name zone location tz_name", TEXT)
_SHIFT = (
    _DATE_OR_NOW,
    _optional("amount", "value quantity n number count offset duration", NUMBER),
    _optional("unit", "units period time_unit", TEXT),
    *(_optional(unit, "", NUMBER) for unit in ("years", "months", "weeks", "days", "hours", "minutes")),
)

DATES: tuple[Operation, ...] = (
    _operation("now", "dates:now",
               "get_current_time current_time get_time time get_current_date current_date get_date today "
               "get_current_datetime current_datetime get_datetime get_now get_current_date_time get_today "
               "get_current_date_and_time what_time_is_it get_current_timestamp current_timestamp get_timestamp "
               "get_system_time server_time get_local_time local_time get_time_in_timezone current_time_in_timezone "
               "get_current_time_in_timezone get_todays_date", "current_time time datetime current_date date", _ZONE,
               _optional("format", "date_format time_format output_format layout", TEXT)),
    _operation("convert_time", "dates:convert_time",
               "time_conversion convert_timezone convert_time_zone timezone_convert convert_datetime "
               "convert_between_timezones timezone_conversion convert_time_between_timezones translate_time",
               "converted_time target_time", _string("time", "datetime time_string timestamp date_time source_time"),
               _string("source", "source_timezone from_timezone from_tz source_tz from timezone_from from_zone"),
               _string("target", "target_timezone to_timezone to_tz target_tz to timezone_to to_zone")),
    _operation("add_to_date", "dates:add_to_date",
               "add_days date_add add_time add_date add_duration add_days_to_date date_offset add_months add_weeks "
               "add_hours calculate_date shift_date add_business_time offset_date", "date new_date result_date",
               *_SHIFT),
    _operation("subtract_from_date", "dates:subtract_from_date",
               "subtract_days date_subtract subtract_time subtract_date subtract_duration", "date new_date result_date",
               *_SHIFT),
    _operation("date_difference", "dates:date_difference",
               "difference date_diff days_between diff_dates time_difference time_between datediff "
               "difference_between_dates days_between_dates get_date_difference dates_difference duration_between "
               "calculate_date_difference calculate_days_between time_diff calculate_duration",
               "days difference days_between",
               _string("first",
                       "date start_date start date1 from_date from first_date datetime1 start_datetime earlier "
                       "start_time"),
               _string("second",
                       "end to_date date2 second_date to until datetime2 end_datetime later end_date end_time"),
               _optional("unit", "units in_unit", TEXT), hints="date dates day days time calendar datetime"),
    _operation("format_date", "dates:format_date",
               "format_datetime format_time reformat_date date_format convert_date_format", "formatted formatted_date",
               _DATE, _string("format", "output_format layout pattern target_format to_format format_string"), _ZONE),
    _operation("day_of_week", "dates:day_of_week", "get_day_of_week weekday get_weekday which_day", "day weekday",
               _DATE),
    _operation("week_number", "dates:week_number", "get_week_number iso_week week_of_year get_week_year", "week",
               _DATE),
    _operation("is_weekend", "dates:is_weekend", "", "", _DATE),
    _operation("to_timestamp", "dates:to_timestamp",
               "date_to_timestamp datetime_to_timestamp to_unix to_epoch parse_to_timestamp convert_to_timestamp "
               "get_timestamp", "timestamp", _DATE),
    _operation("from_timestamp", "dates:from_timestamp",
               "timestamp timestamp_to_date timestamp_to_datetime unix_to_date epoch_to_date from_unix "
               "convert_timestamp", "date datetime", _by_position("timestamp", "ts unix epoch unix_timestamp"), _ZONE),
    _operation("age", "dates:age", "calculate_age get_age", "",
               _string("date", "birth_date birthdate date_of_birth dob birthday")),
    _operation("is_leap_year", "dates:is_leap_year", "leap_year check_leap_year", "leap", _number("year", "")),
    _operation("days_in_month", "dates:days_in_month", "get_days_in_month", "days", _number("year", ""),
               _number("month", "")),
    _operation("month_days", "dates:month_days", "days_in_month get_days_in_month", "days", _DATE_OR_NOW),
    _operation("list_timezones", "dates:list_timezones",
               "get_timezones list_time_zones available_timezones get_available_timezones search_timezones",
               "timezones", _optional("filter", "query region search continent area", TEXT)),
)  # fmt: skip


_TEXT = _string("text", "input string content str data value message input_text source_text document")
_of_text = _on(_TEXT)
_JSON = _string("text", "json json_string json_text input data json_str")
_CODED = _string("text", "url html input string data value")
_COUNT = _optional("count", "n number amount quantity num limit top_n max_keywords num_keywords", NUMBER)
_ALGORITHM = _optional("algorithm", "algo hash_type type method hash_algorithm", TEXT)
_PATTERN = role("pattern", "regex regexp expression regular_expression re", TEXT)
_FLAGS = _optional("flags", "modifiers options", TEXT)
_LOW = _optional("low", "min minimum start from min_value lower lower_bound", NUMBER)
_HIGH = _optional("high", "max maximum end to max_value upper upper_bound", NUMBER)
_OPTIONS = _by_position("options", "choices items list values", LIST)
_TWO_TEXTS = (
    role("first", "text1 text_1 a old old_text original before left string1 str1 source text_a", TEXT),
    role("second", "text2 text_2 b new new_text modified after right string2 str2 target text_b", TEXT),
)
_ABOUT_TEXT = "text string texts strings word words sentence content document characters lines"
ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "crc32")
"""Hash algorithms."""

TEXTS: tuple[Operation, ...] = (
    _of_text("echo", _formula("Return a text.", str), "echo_message repeat_message parrot", "message",
             excludes="file files terminal"),
    _of_text("count_words", _formula("Count the words of a text.", lambda text: len(text.split())),
             "word_count wordcount count_word", "count word_count words"),
    _of_text("count_characters", _formula("Count the characters of a text.", len),
             "character_count char_count string_length text_length count_chars length", "count length"),
    _of_text("count_lines", _formula("Count the lines of a text.", lambda text: len(text.splitlines())), "line_count",
             "count lines"),
    _of_text("text_statistics", "texts:text_statistics", "text_stats analyze_text count_text"),
    _of_text("text_statistics", "texts:text_statistics", "count", hints="character characters bytes"),
    _of_text("upper", _formula("Return a text in upper case.", str.upper),
             "uppercase to_uppercase to_upper upper_case convert_to_uppercase"),
    _of_text("lower", _formula("Return a text in lower case.", str.lower),
             "lowercase to_lowercase to_lower lower_case convert_to_lowercase"),
    _of_text("title_case", _formula("Begin each word with a capital.", str.title),
             "titlecase to_title_case capitalize"),
    _operation("convert_case", "texts:convert_case", "change_case case_convert transform_case case_converter", "",
               _TEXT, _string("case", "case_type target_case to_case format style mode")),
    _of_text("reverse", _formula("Return a text backwards.", lambda text: text[::-1]),
             "reverse_text reverse_string text_reverse", "reversed", hints=_ABOUT_TEXT),
    _of_text("trim", _formula("Remove white space around a text.", str.strip), "strip trim_text strip_whitespace",
             hints=_ABOUT_TEXT),
    _operation("slug",
               _formula("Return a text as a part of an address: lower case letters, digits and hyphens.",
                        lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")),
               "slugify generate_slug create_slug", "", _string("text", "title input string name")),
    _operation("format_json", "texts:format_json",
               "json_format pretty_print_json beautify_json prettify_json json_pretty", "formatted", _JSON),
    _operation("validate_json", "texts:validate_json", "json_validate is_valid_json check_json", "valid is_valid",
               _JSON),
    _operation("fill_template", "texts:fill_template", "render_template format_template apply_template", "rendered",
               _string("template", "text template_string"),
               _by_position("values", "variables data params parameters context", frozenset({"object"}))),
    _of_text("base64_encode", "texts:base64_encode", "encode_base64 to_base64 b64_encode", "encoded"),
    _operation("base64_decode", "texts:base64_decode", "decode_base64 from_base64 b64_decode", "decoded",
               _string("text", "input encoded data string base64 value encoded_text base64_string")),
    _operation("url_encode",
               _formula("Encode a text for an address.", lambda text: quote(text, safe="", errors="surrogatepass")),
               "encode_url urlencode percent_encode", "encoded", _CODED),
    _operation("url_decode", _formula("Decode a text from an address.", unquote), "decode_url urldecode percent_decode",
               "decoded", _CODED),
    _operation("html_encode", _formula("Escape the signs of HTML.", "html:escape"),
               "encode_html html_escape escape_html htmlencode", "encoded escaped", _CODED),
    _operation("html_decode", _formula("Replace the references of HTML.", "html:unescape"),
               "decode_html html_unescape unescape_html htmldecode", "decoded unescaped", _CODED),
    _operation("hash", "texts:hash_text", "hash_text generate_hash compute_hash calculate_hash hash_string create_hash",
               "digest", _TEXT, _ALGORITHM),
    _operation("hmac", "texts:keyed_hash", "compute_hmac generate_hmac hmac_hash hmac_sign", "hash digest", _TEXT,
               role("key", "secret secret_key password", TEXT), _ALGORITHM),
    *(_of_text(name, f"texts:{name}", f"{name}_hash hash_{name} generate_{name} compute_{name}", "hash digest")
      for name in ALGORITHMS),
    _operation("regex_match", "texts:regex_match",
               "match_regex regex_find find_regex regex_search regex_extract extract_regex regex_find_all find_matches "
               "match_pattern extract_pattern regex_matches regex_match_all match_all_regex", "", _TEXT, _PATTERN,
               _FLAGS),
    _operation("regex_test", "texts:regex_test", "test_regex is_match matches_regex check_regex matches_pattern",
               "matches match is_match matched", _TEXT, _PATTERN, _FLAGS),
    _operation("regex_replace", "texts:regex_replace", "replace_regex regex_substitute replace_pattern", "", _TEXT,
               _PATTERN, role("replacement", "replace replace_with new_text substitute repl", TEXT), _FLAGS),
    _operation("text_difference", "text_changes:line_diff",
               "diff text_diff diff_text diff_texts compare_text compare_texts text_compare diff_strings",
               "diff difference", *_TWO_TEXTS, hints="text texts string strings"),
    _operation("edit_distance", "texts:edit_distance",
               "distance levenshtein levenshtein_distance string_distance diff_distance", "distance", *_TWO_TEXTS),
    _operation("repeat_text", "texts:repeat_text", "repeat_string text_repeat string_repeat", "repeated", _TEXT,
               _number("count", "times n repetitions number repeat number_of_times"),
               _optional("separator", "sep delimiter joiner", TEXT)),
    _operation("summarize", "texts:summarize",
               "summarise summarize_text summarise_text text_summary generate_summary get_summary", "summary", _TEXT,
               _optional("length", "max_length max_chars max_characters", NUMBER),
               _optional("sentences", "max_sentences num_sentences sentence_count", NUMBER),
               _optional("style", "language format type tone", TEXT)),
    _operation("extract_keywords", "texts:extract_keywords",
               "keyword_extraction get_keywords keywords extract_key_terms", "keywords", _TEXT, _COUNT),
    _of_text("sentiment", "texts:sentiment",
             "analyze_sentiment sentiment_analysis get_sentiment detect_sentiment analyse_sentiment text_sentiment "
             "classify_sentiment"),
    _operation("translate", "texts:translate", "translate_text text_translate translation",
               "translation translated_text translated", _TEXT,
               _string("target", "target_language to target_lang language to_language lang dest target_locale"),
               _optional("source", "source_language from source_lang from_language src", TEXT)),
    _operation("uuid", "randomness:uuid",
               "generate_uuid create_uuid new_uuid get_uuid uuid4 random_uuid generate_uuids generate_guid "
               "generate_unique_id", "uuids id", _COUNT, _optional("version", "", TEXT | NUMBER)),
    _operation("random_number", "randomness:random_number",
               "generate_random_number random_int random_integer get_random_number randint random generate_random "
               "generate_random_integer random_number_generator generate_number", "number", _LOW, _HIGH, _COUNT),
    _operation("random_fraction", "randomness:random_fraction", "random_float generate_random_float random_decimal",
               "number", _LOW, _HIGH),
    _operation("random_choice", "randomness:random_choice",
               "choose_random pick_random random_pick choose select_random", "choice", _OPTIONS),
    _operation("shuffle", "randomness:shuffle", "shuffle_list random_shuffle shuffle_items random_order",
               "shuffled items", _OPTIONS),
    _operation("random_string", "randomness:random_string",
               "generate_random_string generate_password random_password password_generator create_password",
               "password string", _optional("length", "size len", NUMBER),
               _optional("symbols", "include_symbols special_characters use_symbols include_special", FLAG)),
    _operation("flip_coin", "randomness:flip_coin", "coin_flip toss_coin", "side"),
    _operation("roll_dice", "randomness:roll_dice", "dice_roll roll_die roll roll_a_dice", "total",
               _optional("notation", "dice dice_notation expression", TEXT),
               _optional("sides", "num_sides faces", NUMBER), _COUNT, hints="dice die roll rolls"),
)  # fmt: skip

FAMILIES = (ARITHMETIC, DATES, TEXTS)
"""The operations by family. Of operations that a tool may mean equally, that of the first family is meant."""
