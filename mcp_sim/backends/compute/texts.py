"""Functions that change, compare, encode, search and summarize texts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from mcp_sim.backends.compute.operations import ALGORITHMS
from mcp_sim.backends.operation import read_names
from mcp_sim.backends.patterns import compile_expression, find_all
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.json_values import has_many_values
from mcp_sim.types.lexicon.english import words

_WORDS = read_names(__name__)
MAX_LENGTH = 10_000_000
"""The largest number of characters of a text that is composed of others."""

_MOST_PAIRS = 4_000_000  # the edit distance is quadratic: one call must not hold the world for seconds
_MOST_MATCHES = 1_000  # keeps an answer readable where a pattern matches everywhere
_GOOD = _WORDS.terms("good")
_BAD = _WORDS.terms("bad")
_COMMON = _WORDS.terms("common")
_SLOT = re.compile(r"{{?\s*(\w+)\s*}?}")


def convert_case(text: str, case: str) -> str:
    """Return a text in a case such as title, snake or camelCase. Raises `Refused` if the case is unknown."""
    wanted, parts = case.lower().replace("case", "").strip(" _-"), words(text)
    forms: dict[str, str] = {
        "upper": text.upper(), "lower": text.lower(), "title": text.title(),
        "sentence": text[:1].upper() + text[1:].lower(),
        "capitalize": text.capitalize(), "snake": "_".join(parts), "kebab": "-".join(parts), "swap": text.swapcase(),
        "camel": "".join([*parts[:1], *(piece.title() for piece in parts[1:])]),
        "pascal": "".join(piece.title() for piece in parts),
        "constant": "_".join(parts).upper(),
    }  # fmt: skip
    if wanted not in forms:
        raise Refused("invalid", f"Unknown case {case!r}. Supported: {', '.join(forms)}")
    return forms[wanted]


def text_statistics(text: str) -> Json:
    """Return the numbers of characters, words, sentences, lines and paragraphs of a text."""
    sentences = [piece for piece in re.split(r"[.!?]+(?:\s|$)", text) if piece.strip()]
    return {
        "characters": len(text),
        "characters_without_spaces": len(re.sub(r"\s", "", text)),
        "words": len(text.split()),
        "sentences": len(sentences),
        "lines": len(text.splitlines()),
        "paragraphs": len([piece for piece in re.split(r"\n\s*\n", text) if piece.strip()]),
    }


def format_json(text: str) -> str:
    """Return a JSON text with indentation. Raises `Refused` if it is invalid."""
    return json.dumps(_parsed(text), indent=2, ensure_ascii=False)


def validate_json(text: str) -> Json:
    """Return whether a text is valid JSON, and the error if it is not."""
    try:
        _parsed(text)
    except Refused as wrong:
        return {"valid": False, "error": str(wrong).removeprefix("Invalid JSON: ")}
    return {"valid": True}


def _parsed(text: str) -> Any:
    if has_many_values(text.encode("utf-8", "replace")):
        raise Refused("invalid", "Invalid JSON: it has too many values")
    try:
        return json.loads(text)
    except RecursionError:
        raise Refused("invalid", "Invalid JSON: it nests too deeply") from None
    except json.JSONDecodeError as wrong:
        problem = f"unexpected {text[wrong.pos]!r}" if wrong.pos < len(text) else "unexpected end"
        raise Refused("invalid", f"Invalid JSON: {problem} at line {wrong.lineno}, column {wrong.colno}") from None
    except ValueError:
        raise Refused("invalid", "Invalid JSON: a number is too long") from None


def fill_template(template: str, values: Mapping[str, Json]) -> str:
    """Fill the slots of a template, `{name}` or `{{name}}`. Raises `Refused` if a value is missing."""
    texts = {name: str(value) for name, value in values.items()}
    wanted = _SLOT.findall(template)
    lacking = [name for name in wanted if name not in texts]
    if lacking:
        raise Refused("invalid", f"Missing values for {', '.join(dict.fromkeys(lacking))}")
    check_length(len(template) + sum(len(texts[name]) for name in wanted))
    return _SLOT.sub(lambda slot: texts[slot[1]], template)


def repeat_text(text: str, count: float, separator: str | None = None) -> str:
    """Return a text several times, with a separator between. Raises `Refused` if the result is too long."""
    between, times = separator or "", max(0, int(count))
    check_length((len(text) + len(between)) * times)
    return between.join([text] * times)


def edit_distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two texts. Raises `Refused` if they are too long."""
    if len(first) * len(second) > _MOST_PAIRS:
        check_length(MAX_LENGTH + 1)
    row = list(range(len(second) + 1))
    for at, sign in enumerate(first, 1):
        before, row = row, [at]
        for place, other in enumerate(second, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (sign != other)))
    return row[-1]


def check_length(length: int) -> None:
    """Raise `Refused` if a composed text would be too long."""
    if length > MAX_LENGTH:
        raise Refused("invalid", f"The result is too long; at most {MAX_LENGTH:,} characters are possible")


def base64_encode(text: str) -> str:
    """Encode a text in base64."""
    return base64.b64encode(_bytes(text)).decode()


def base64_decode(text: str) -> str:
    """Decode a text from base64. Raises `Refused` if it is invalid."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except UnicodeDecodeError:
        raise Refused("invalid", "Invalid base64 input: the decoded bytes are not a text in UTF-8") from None
    except ValueError:
        raise Refused("invalid", "Invalid base64 input: it has other characters, or its padding is wrong") from None


def hash_text(text: str, algorithm: str | None = None) -> str:
    """Return the hash of a text in hexadecimal digits, by default SHA-256. Raises `Refused` for unknown algorithms."""
    name = _algorithm(algorithm, ALGORITHMS)
    if name == "crc32":
        return f"{zlib.crc32(_bytes(text)):08x}"
    return hashlib.new(name, _bytes(text), usedforsecurity=False).hexdigest()


def keyed_hash(text: str, key: str, algorithm: str | None = None) -> str:
    """Return the keyed hash (HMAC) of a text. Raises `Refused` if the algorithm is unknown or has no keyed hash."""
    keyed = [name for name in ALGORITHMS if name != "crc32"]
    return hmac.new(_bytes(key), _bytes(text), _algorithm(algorithm, keyed)).hexdigest()


def _hash_by(name: str) -> Callable[[str], str]:
    def hashed(text: str) -> str:
        return hash_text(text, name)

    hashed.__doc__ = f"Return the {name} hash of a text in hexadecimal digits."
    return hashed


md5, sha1, sha224, sha256, sha384, sha512, crc32 = map(_hash_by, ALGORITHMS)


def _algorithm(given: str | None, known: Collection[str]) -> str:
    name = (given or "sha256").lower().replace("-", "").replace("_", "")
    if name not in known:
        raise Refused("invalid", f"Unsupported hash algorithm {given!r}. Supported: {', '.join(known)}")
    return name


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def regex_match(text: str, pattern: str, flags: str | None = None) -> Json:
    """Return the matches with their positions and groups, up to 1000. The flag `i` ignores the case."""
    hits = islice(_hits(_valid(text), pattern, flags), _MOST_MATCHES)
    matches = [{"match": hit[0], "index": hit.start(), "groups": [*hit.groups()]} for hit in hits]
    return {"matches": matches, "count": len(matches)}


def regex_test(text: str, pattern: str, flags: str | None = None) -> bool:
    """Return whether a part of a text matches."""
    return next(_hits(_valid(text), pattern, flags), None) is not None


def regex_replace(text: str, pattern: str, replacement: str, flags: str | None = None) -> str:
    """Replace all matches. The replacement may refer to groups as `$1` or `\\1`; missing groups are empty."""
    instead = re.sub(r"\$(\d)", r"\\\1", replacement)
    pieces, length, end, text = list[str](), 0, 0, _valid(text)
    for hit in _hits(text, pattern, flags):
        pieces += [text[end : hit.start()], _filled(instead, [hit[0], *hit.groups()])]
        end, length = hit.end(), length + len(pieces[-1])
        check_length(length)
    return "".join([*pieces, text[end:]])


def _filled(instead: str, groups: Sequence[str | None]) -> str:
    return re.sub(
        r"\\(\d)", lambda match: (groups[int(match[1])] or "") if int(match[1]) < len(groups) else "", instead
    )


def _hits(text: str, pattern: str, flags: str | None) -> Iterator[Any]:
    return find_all(compile_expression(pattern, ignores_case="i" in (flags or "")), text)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def summarize(text: str, length: float | None = None, sentences: float | None = None, style: str | None = None) -> str:  # noqa: ARG001 (there is one style)
    """Return the sentences with the most frequent words of a text, by default a third; `length` cuts it off."""
    listed = [piece.strip() for piece in re.split(r"(?<=[.!?])\s+", text.strip()) if piece.strip()]
    weights = Counter(_content(text))
    wanted = max(1, int(sentences or max(1, len(listed) // 3)))
    rated = sorted(
        listed, key=lambda sentence: -sum(weights[word] for word in _content(sentence)) / (len(sentence.split()) + 5)
    )
    chosen = frozenset(rated[:wanted])
    kept = " ".join(sentence for sentence in listed if sentence in chosen)
    return kept if length is None or len(kept) <= length else kept[: max(0, int(length) - 1)].rstrip() + "…"


def _content(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _COMMON and len(word) > 2]


def extract_keywords(text: str, count: float | None = None) -> list[str]:
    """Return the most frequent words of a text, 5 by default, without those of grammar."""
    return [word for word, _ in Counter(_content(text)).most_common(int(count or 5))]


def sentiment(text: str) -> Json:
    """Return whether a text is positive or negative by its single words, with a score from -1 to 1."""
    matches = re.findall(r"[a-z]+", text.lower())
    good, bad = (sum(word in known for word in matches) for known in (_GOOD, _BAD))
    score = round((good - bad) / (good + bad), 2) if good + bad else 0.0
    label = "positive" if score > 0 else "negative" if score < 0 else "neutral"
    confidence = round(0.5 + abs(score) / 2, 2)
    return {"sentiment": label, "label": label, "score": score, "polarity": score, "confidence": confidence}


def translate(text: str, target: str, source: str | None = None) -> str:  # noqa: ARG001 (the text is not read)
    """Return the text itself, marked with the target language."""
    return f"[{target}] {text}"
