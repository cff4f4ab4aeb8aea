"""Which operations count, change, encode, hash and judge texts, or draw something at random?"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, unquote

from mcp_sim.abilities.operation import NUMBER, TEXT, Circumstances, Given, Operation, phrases, role
from mcp_sim.abilities.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.words import vocabulary, words

_TEXT = role("text", TEXT, "input, string, content, str, data, value, message, input_text, source_text, document")
_PLACES = ("result", "text", "output", "value")
_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GOOD = vocabulary("good great excellent love loved wonderful happy best amazing nice perfect fantastic enjoy awesome "
                   "like brilliant pleased thanks thank delighted superb beautiful recommend helpful fast")  # fmt: skip
_BAD = vocabulary("bad terrible awful hate hated worst sad poor horrible broken angry disappointed disappointing fail "
                  "failed slow wrong useless annoying problem problems never ugly refund rude late")  # fmt: skip
_COMMON = vocabulary("the a an and or but of to in on for with is are was were be been it its this that these those as "
                     "at by from not no i you he she we they them his her our your their has have had do does did will "
                     "would can could should may more most than then so if into about over also which who "
                     "what")  # fmt: skip


def _done(compute: Callable[[Given], Json]) -> Callable[[Given, Circumstances], Json]:
    return lambda given, _around: compute(given)


def _changed(change: Callable[[str], Json]) -> Callable[[Given, Circumstances], Json]:
    return lambda given, _around: change(str(given["text"]))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as wrong:
        raise Refused("invalid", f"Invalid base64 input: {wrong}") from None


def _hashed(given: Given) -> str:
    name = str(given.get("algorithm", "sha256")).lower().replace("-", "").replace("_", "")
    if name not in _ALGORITHMS:
        raise Refused(
            "invalid", f"Unsupported hash algorithm {given['algorithm']!r}. Supported: {', '.join(_ALGORITHMS)}"
        )
    return hashlib.new(name, str(given["text"]).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _hash_with(algorithm: str) -> Callable[[Given, Circumstances], Json]:
    return lambda given, _around: _hashed({**given, "algorithm": algorithm})


def _cased(given: Given) -> str:
    text, wanted = str(given["text"]), str(given["case"]).lower().replace("case", "").strip(" _-")
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
        raise Refused("invalid", f"Unknown case {given['case']!r}. Supported: {', '.join(forms)}")
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
    except ValueError as wrong:
        raise Refused("invalid", f"Invalid JSON: {wrong}") from None


def _is_json(text: str) -> Json:
    try:
        json.loads(text)
    except ValueError as wrong:
        return {"valid": False, "error": str(wrong)}
    return {"valid": True}


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part.strip()]


def _summary(given: Given) -> str:
    """The sentences that hold the words that the text speaks of most, in their order."""
    told = _sentences(str(given["text"]))
    weights = Counter(_content(str(given["text"])))
    wanted = max(1, int(given.get("sentences") or max(1, len(told) // 3)))
    rated = sorted(told, key=lambda one: -sum(weights[word] for word in _content(one)) / (len(one.split()) + 5))[
        :wanted
    ]
    text = " ".join(one for one in told if one in rated)
    longest = given.get("length")
    return text if longest is None or len(text) <= longest else text[: max(0, int(longest) - 1)].rstrip() + "…"


def _content(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _COMMON and len(word) > 2]


def _keywords(given: Given) -> Json:
    return [word for word, _ in Counter(_content(str(given["text"]))).most_common(int(given.get("count") or 5))]


def _sentiment(text: str) -> Json:
    found = re.findall(r"[a-z]+", text.lower())
    good, bad = (sum(word in known for word in found) for known in (_GOOD, _BAD))
    score = round((good - bad) / (good + bad), 2) if good + bad else 0.0
    label = "positive" if score > 0 else "negative" if score < 0 else "neutral"
    confidence = round(0.5 + abs(score) / 2, 2)
    return {"sentiment": label, "label": label, "score": score, "polarity": score, "confidence": confidence}


def _translated(given: Given, _around: Circumstances) -> Json:
    """Nobody here knows the language: what comes back is marked as if it were in it."""
    return f"[{given['target']}] {given['text']}"


def _filled(given: Given) -> str:
    values: dict[str, Json] = given["values"]
    lacking = [name for name in re.findall(r"{{?\s*(\w+)\s*}?}", given["template"]) if name not in values]
    if lacking:
        raise Refused("invalid", f"Missing values for {', '.join(dict.fromkeys(lacking))}")
    return re.sub(r"{{?\s*(\w+)\s*}?}", lambda hit: str(values[hit[1]]), str(given["template"]))


# chance ---------------------------------------------------------------------------------------------------------------


def _uuid(around: Circumstances, place: int = 0) -> str:
    text = "".join(f"{int(around.draws.unit(f'uuid/{place}/{part}') * 2**32):08x}" for part in range(4))
    variant = "89ab"[int(text[16], 16) % 4]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def _uuids(given: Given, around: Circumstances) -> Json:
    count = given.get("count")
    if count is None or count == 1:
        return _uuid(around)
    return [_uuid(around, place) for place in range(_bounded("count", count, 1000))]


def _bounded(name: str, value: Json, most: int) -> int:
    number = int(value)
    if not 1 <= number <= most:
        raise Refused("invalid", f"{name} must be between 1 and {most}, got {number}")
    return number


def _whole_number(given: Given, around: Circumstances) -> Json:
    low, high = int(given.get("low", 0)), int(given.get("high", 100))
    if low > high:
        raise Refused("invalid", f"The minimum {low} must not be above the maximum {high}")
    count = given.get("count")
    drawn = [
        low + int(around.draws.unit(f"number/{at}") * (high - low + 1))
        for at in range(_bounded("count", count or 1, 1000))
    ]
    return drawn if count is not None else drawn[0]


def _fraction(given: Given, around: Circumstances) -> Json:
    low, high = float(given.get("low", 0)), float(given.get("high", 1))
    return low + around.draws.unit("number") * (high - low)


def _chosen(given: Given, around: Circumstances) -> Json:
    if not given["options"]:
        raise Refused("invalid", "Cannot choose from an empty list")
    return around.draws.choice("choice", given["options"])


def _characters(given: Given, around: Circumstances) -> Json:
    signs = _LETTERS + "0123456789" + ("!@#$%^&*" if given.get("symbols") else "")
    length = _bounded("length", given.get("length") or 16, 4096)
    return "".join(around.draws.choice(f"sign/{at}", signs) for at in range(length))


def _dice(given: Given, around: Circumstances) -> Json:
    written = re.fullmatch(r"(\d*)d(\d+)([+-]\d+)?", str(given.get("notation", "")).replace(" ", "").lower())
    if "notation" in given and written is None:
        raise Refused("invalid", f"Invalid dice notation {given['notation']!r}: expected a form such as 2d6+1")
    count = int(written[1] or 1) if written else int(given.get("count") or 1)
    sides = int(written[2]) if written else int(given.get("sides") or 6)
    rolls = [
        1 + int(around.draws.unit(f"die/{at}") * _bounded("sides", sides, 10_000))
        for at in range(_bounded("count", count, 1000))
    ]
    return {"rolls": rolls, "total": sum(rolls) + (int(written[3] or 0) if written else 0)}


_ABOUT_TEXT = vocabulary("text string texts strings word words sentence content document characters lines")
_LOW = role("low", NUMBER, "min, minimum, start, from, min_value, lower, lower_bound", optional=True)
_HIGH = role("high", NUMBER, "max, maximum, end, to, max_value, upper, upper_bound", optional=True)
_COUNT = role(
    "count", NUMBER, "n, number, amount, quantity, num, limit, top_n, max_keywords, num_keywords", optional=True
)
_CLIPPED = (
    role("length", NUMBER, "max_length, max_chars, max_characters", optional=True),
    role("sentences", NUMBER, "max_sentences, num_sentences, sentence_count", optional=True),
    role("style", TEXT, "language, format, type, tone", optional=True),
)


def _operation(
    name: str,
    known_as: str,
    roles: Sequence[Any],
    compute: Callable[[Given, Circumstances], Json],
    *places: str,
    telling: frozenset[str] = frozenset(),
    against: frozenset[str] = frozenset(),
) -> Operation:
    return Operation(name, phrases(known_as), roles, compute, (*places, *_PLACES), telling, against)


OPERATIONS: tuple[Operation, ...] = (
    _operation(
        "echo",
        "echo, echo_message, repeat_message, parrot",
        (_TEXT,),
        _changed(str),
        "echo",
        "message",
        against=vocabulary("file files terminal"),
    ),
    _operation(
        "count_words",
        "count_words, word_count, wordcount, count_word",
        (_TEXT,),
        _changed(lambda t: len(t.split())),
        "count",
        "word_count",
        "words",
    ),
    _operation(
        "count_characters",
        ("count_characters, character_count, char_count, string_length, text_length, count_chars, length"),
        (_TEXT,),
        _changed(len),
        "count",
        "length",
    ),
    _operation(
        "count_lines", "count_lines, line_count", (_TEXT,), _changed(lambda t: len(t.splitlines())), "count", "lines"
    ),
    _operation("text_statistics", "text_stats, text_statistics, analyze_text, count_text", (_TEXT,), _changed(_counts)),
    _operation(
        "upper",
        "uppercase, to_uppercase, to_upper, upper, upper_case, convert_to_uppercase",
        (_TEXT,),
        _changed(str.upper),
    ),
    _operation(
        "lower",
        "lowercase, to_lowercase, to_lower, lower, lower_case, convert_to_lowercase",
        (_TEXT,),
        _changed(str.lower),
    ),
    _operation("title", "title_case, titlecase, to_title_case, capitalize", (_TEXT,), _changed(str.title)),
    _operation(
        "case",
        "convert_case, change_case, case_convert, transform_case, case_converter",
        (_TEXT, role("case", TEXT, "case_type, target_case, to_case, format, style, mode")),
        _done(_cased),
    ),
    _operation(
        "reverse",
        "reverse, reverse_text, reverse_string, text_reverse",
        (_TEXT,),
        _changed(lambda t: t[::-1]),
        "reversed",
        telling=_ABOUT_TEXT,
    ),
    _operation("trim", "trim, strip, trim_text, strip_whitespace", (_TEXT,), _changed(str.strip), telling=_ABOUT_TEXT),
    _operation(
        "slug",
        "slugify, slug, generate_slug, create_slug",
        (role("text", TEXT, "title, input, string, name"),),
        _changed(_slug),
        "slug",
    ),
    _operation(
        "base64_encode",
        "base64_encode, encode_base64, to_base64, b64_encode",
        (_TEXT,),
        _changed(lambda t: base64.b64encode(t.encode()).decode()),
        "encoded",
    ),
    _operation(
        "base64_decode",
        "base64_decode, decode_base64, from_base64, b64_decode",
        (role("text", TEXT, "input, encoded, data, string, base64, value, encoded_text, base64_string"),),
        _changed(_decoded),
        "decoded",
    ),
    _operation(
        "url_encode",
        "url_encode, encode_url, urlencode, percent_encode",
        (role("text", TEXT, "url, input, string, data, value"),),
        _changed(lambda t: quote(t, safe="")),
        "encoded",
    ),
    _operation(
        "url_decode",
        "url_decode, decode_url, urldecode, percent_decode",
        (role("text", TEXT, "url, input, string, data, value"),),
        _changed(unquote),
        "decoded",
    ),
    _operation(
        "hash",
        ("hash, hash_text, generate_hash, compute_hash, calculate_hash, hash_string, create_hash"),
        (_TEXT, role("algorithm", TEXT, "algo, hash_type, type, method, hash_algorithm", optional=True)),
        _done(_hashed),
        "hash",
        "digest",
    ),
    *(
        _operation(
            name, f"{name}, {name}_hash, hash_{name}, generate_{name}", (_TEXT,), _hash_with(name), "hash", "digest"
        )
        for name in _ALGORITHMS
    ),
    _operation(
        "format_json",
        ("format_json, json_format, pretty_print_json, beautify_json, prettify_json, json_pretty"),
        (role("text", TEXT, "json, json_string, json_text, input, data, json_str"),),
        _changed(lambda t: json.dumps(_parsed(t), indent=2, ensure_ascii=False)),
        "formatted",
    ),
    _operation(
        "validate_json",
        "validate_json, json_validate, is_valid_json, check_json",
        (role("text", TEXT, "json, json_string, json_text, input, data, json_str"),),
        _changed(_is_json),
        "valid",
        "is_valid",
    ),
    _operation(
        "summarise",
        ("summarize, summarise, summarize_text, summarise_text, text_summary, generate_summary, get_summary"),
        (_TEXT, *_CLIPPED),
        _done(_summary),
        "summary",
    ),
    _operation(
        "keywords",
        "extract_keywords, keyword_extraction, get_keywords, keywords, extract_key_terms",
        (_TEXT, _COUNT),
        _done(_keywords),
        "keywords",
    ),
    _operation(
        "sentiment",
        (
            "analyze_sentiment, sentiment_analysis, sentiment, get_sentiment, detect_sentiment, "
            "analyse_sentiment, text_sentiment, classify_sentiment"
        ),
        (_TEXT,),
        _changed(_sentiment),
        "sentiment",
    ),
    _operation(
        "translate",
        "translate, translate_text, text_translate, translation",
        (
            _TEXT,
            role("target", TEXT, "target_language, to, target_lang, language, to_language, lang, dest, target_locale"),
            role("source", TEXT, "source_language, from, source_lang, from_language, src", optional=True),
        ),
        _translated,
        "translation",
        "translated_text",
        "translated",
    ),
    _operation(
        "fill_template",
        "fill_template, render_template, format_template, apply_template",
        (
            role("template", TEXT, "text, template_string"),
            role("values", frozenset({"object"}), "variables, data, params, parameters, context"),
        ),
        _done(_filled),
        "rendered",
    ),
    _operation(
        "uuid",
        (
            "generate_uuid, uuid, create_uuid, new_uuid, get_uuid, uuid4, random_uuid, "
            "generate_uuids, generate_guid, generate_unique_id"
        ),
        (_COUNT, role("version", frozenset({"string", "integer", "number"}), optional=True)),
        _uuids,
        "uuid",
        "uuids",
        "id",
    ),
    _operation(
        "random_number",
        (
            "random_number, generate_random_number, random_int, random_integer, get_random_number, "
            "randint, random, generate_random, generate_random_integer, random_number_generator, "
            "generate_number"
        ),
        (_LOW, _HIGH, _COUNT),
        _whole_number,
        "number",
        "random_number",
    ),
    _operation(
        "random_fraction", "random_float, generate_random_float, random_decimal", (_LOW, _HIGH), _fraction, "number"
    ),
    _operation(
        "random_choice",
        "random_choice, choose_random, pick_random, random_pick, choose, select_random",
        (role("options", frozenset({"array"}), "choices, items, list, values"),),
        _chosen,
        "choice",
    ),
    _operation(
        "random_text",
        (
            "random_string, generate_random_string, generate_password, random_password, "
            "password_generator, create_password"
        ),
        (
            role("length", NUMBER, "size, len", optional=True),
            role(
                "symbols",
                frozenset({"boolean"}),
                "include_symbols, special_characters, use_symbols, include_special",
                optional=True,
            ),
        ),
        _characters,
        "password",
        "string",
    ),
    _operation(
        "coin",
        "flip_coin, coin_flip, toss_coin",
        (),
        lambda _g, around: around.draws.choice("coin", ("heads", "tails")),
        "side",
    ),
    _operation(
        "dice",
        "roll_dice, dice_roll, roll_die, roll, roll_a_dice",
        (
            role("notation", TEXT, "dice, dice_notation, expression", optional=True),
            role("sides", NUMBER, "num_sides, faces", optional=True),
            _COUNT,
        ),
        _dice,
        "total",
        telling=vocabulary("dice die roll rolls"),
    ),
)
