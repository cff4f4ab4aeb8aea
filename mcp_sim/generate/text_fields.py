"""Choose the writer of a text field by its format, its name and its kind of record."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from mcp_sim.generate.codes import Codes, Shapes, Write, things
from mcp_sim.generate.contacts import People
from mcp_sim.generate.places import Places
from mcp_sim.generate.prose import Prose, has_subject
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.shipped_data import load, rule_for, word_list, word_set
from mcp_sim.types import Record, as_list
from mcp_sim.types.initial_values import are_choices
from mcp_sim.types.lexicon.english import last_word, singular, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.lexicon.translations import noun_in_english


def writer_of(name: str, noun: str, setting: Setting) -> Write:
    """Return a writer for a kind of record by its name in `texts.json`.

    `words.colors` draws a word, `thing.ward` names a thing, `part.finish` is the value of an unknown field,
    `link.receipt_url` is an address.
    """
    group, _, kind = name.partition(".")
    match group:
        case "words":
            return Shapes(setting).one_of(word_list("words", kind))
        case "thing":
            return Shapes(setting).thing(kind)
        case "part":
            return Shapes(setting).part(kind)
        case "link":
            return Codes(setting, noun).link(kind)
        case "email_of":
            return People(setting).email_of(kind)
        case "codes" | "prose":
            return getattr({"codes": Codes, "prose": Prose}[group](setting, noun), kind)
        case _:
            return getattr({"people": People, "places": Places}[group](setting), kind)


_SIZE = re.compile(r"_?\d+(x\d+)?$")  # the size in the name of an image: `avatar_48`
_WRITERS = {"email": ("people.email", "email_of.")}
"""The writers that may refine a format by the name of a field; without an entry, those of addresses on the web."""
_TWO_LETTERS = frozenset({"^[A-Z]{2}$", "[A-Z]{2}", "^[A-Za-z]{2}$"})
_KEYS = terms("fields.key_ending", "fields.naming", "fields.given_key", "fields.given_name") | {"login"}
_OWN = frozenset({"", "full", "display", "label", "title", "legal", "short", "real"})
"""What precedes `name` in fields that name the record itself."""


def text_writer(entity: str, name: str, schema: Record, setting: Setting) -> Write:
    """Return the writer of a text field, by its format, else by its name and its entity."""
    noun, name = _thing(noun_in_english(snake(entity.rpartition(".")[2]))), noun_in_english(snake(name))
    form = str(schema.get("format", ""))
    by_format, refined = load("texts")["formats"].get(form), load("texts")["refined_by_name"].get(form)
    if by_format is not None:
        plain = _SIZE.sub("", name)
        writer = _by_name(noun, plain, False) if refined is not None and re.search(refined, plain) else ""
        usual = _address(noun, name) if by_format == "people.url" else by_format
        is_finer = writer.startswith(_WRITERS.get(form, ("link.", "people.picture")))
        return writer_of(writer if is_finer else usual, noun, setting)
    label = rule_for("labels", "", name, f"{setting.theme.name}_{noun}") or {"values": ()}
    description = str(schema.get("description") or "")[:_LONGEST]
    given = [*filter(None, (*as_list(schema.get("examples")), schema.get("example")))]
    is_choice = are_choices(given) and last_word(name) not in _KEYS and not schema.keys() & {"pattern", "format"}
    known = (given if is_choice else []) or listed_values(description) or label["values"]
    takes_code = schema.get("maxLength") == 2 or schema.get("pattern") in _TWO_LETTERS
    writer = "" if known else _by_name(noun, name, takes_code)
    if writer.startswith("part."):
        texts = [example for example in given if isinstance(example, str)]
        match = _EXAMPLE.search(description)
        known = (*texts, *([match[1]] if match else []))
    return Shapes(setting).one_of(known) if known else writer_of(writer, noun, setting)


def _thing(noun: str) -> str:
    """Return what records of a kind are about: `company` for `company_profile`."""
    head, _, last = noun.rpartition("_")
    return head if head and last in word_set("nouns", "aspects") else noun


def _address(noun: str, name: str) -> str:
    """Return the writer of a URL: the site of a company or person, else an address of the record itself."""
    is_site = any(word in word_set("nouns", "sites") for word in name.split("_"))
    is_owner = noun.rsplit("_", 1)[-1] in word_set("nouns", "people") | word_set("nouns", "companies")
    return "people.url" if is_site or (is_owner and name in {"url", "link", "uri"}) else f"link.{name}"


@lru_cache(maxsize=4096)
def _by_name(noun: str, name: str, code: bool) -> str:
    rule = rule_for("texts", "names", name, noun)
    if rule is not None:
        return rule["writer"]
    if name.endswith(("name", "_title")) or name in {"label", "title"}:
        # The writer of a name or title of the thing that the field, or else the entity, is named after.
        last = noun.rsplit("_", 1)[-1]
        about = name.removesuffix("name").removesuffix("_title").rstrip("_").rsplit("_", 1)[-1]
        if about in _OWN or about == last:  # the whole noun decides before its last word does
            word = next((word for word in (noun, last) if word in things() or word in _kinds()), None)
            usual = "prose.title" if name == "title" or has_subject(noun) else f"thing.{noun}"
        else:
            word = singular(about)
            usual = "prose.title" if name.endswith("title") else f"thing.{word}"
        return f"thing.{word}" if word in things() else _kinds().get(word or "", usual)
    if name.endswith("country") and code:
        return "places.country_code"
    role = re.fullmatch(r"(.+)_e_?mail(_address)?", name)
    if role is not None:
        return f"email_of.{role[1]}"
    is_short = name == "content" and noun.rsplit("_", 1)[-1] in word_set("nouns", "short")
    if (name == "summary" or is_short) and has_subject(noun):
        return "prose.title"
    return _by_pattern(noun, name) or _by_last_word(noun, name)


def _by_pattern(noun: str, name: str) -> str | None:
    writer = (rule_for("texts", "fields", name, noun) or {"writer": None})["writer"]
    return _address(noun, name) if writer == "people.url" else writer


def _by_last_word(noun: str, name: str) -> str:
    last = singular(name.rsplit("_", 1)[-1])
    if last in word_set("nouns", "heads"):
        return "prose.title"
    if last in word_set("nouns", "long_texts"):
        return "prose.text"
    if last in things() or last in _kinds():
        return _kinds().get(last) or f"thing.{last}"
    singular_name = singular(name)
    return f"part.{name}" if singular_name == name else _by_pattern(noun, singular_name) or "prose.title"


@cache
def _kinds() -> dict[str, str]:
    """Return the writers of names, by kind of record."""
    groups = {**load("texts")["kinds"], **{
        writer: load("nouns")[name]
        for name, writer in (("goods", "codes.product"), ("companies", "people.company"), ("people", "people.person"))
    }}  # fmt: skip
    return {noun: writer for writer, nouns in groups.items() for noun in nouns}


# values that are listed -----------------------------------------------------------------------------------------------


_WORD = r"[\"'`]?[A-Za-z][\w/-]*[\"'`]?"
_LIST = rf"({_WORD}(?:\s*(?:,\s*or\b|,|\||/|\bor\b)\s*{_WORD})+)"
_BEFORE = (
    r"(?:one of|either|(?:possible|allowed|valid|accepted) values(?: are)?|options(?: are)?|values|must be|can be)"
)
_LISTED = re.compile(rf"{_BEFORE}\s*:?\s*[(\[]?{_LIST}", re.IGNORECASE)
_ENCLOSED = re.compile(rf"\(\s*{_LIST}\s*\)")
_QUOTED = re.compile(r"([\"'`][A-Za-z][\w -]*[\"'`](?:(?:, or | or |, ?| ?\| ?| ?/ ?)[\"'`][A-Za-z][\w -]*[\"'`])+)")
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|such as|example:)[,:]?\s*[\"'`]([^\"'`]{2,60})[\"'`]", re.IGNORECASE)
_LONGEST = 1000
"""How many characters of a description are read. Hints such as examples are at the beginning."""


@lru_cache(maxsize=4096)
def listed_values(text: str) -> tuple[str, ...]:
    """Return the values that a description lists: `One of: open, closed`; () if it lists none."""
    match = _LISTED.search(text) or _ENCLOSED.search(text) or _QUOTED.search(text)
    parts = re.split(r",\s*or\b|,|\||/|\bor\b", match[1]) if match else []
    values = tuple(value for piece in parts if (value := piece.strip("\"'` ")))
    known = {value.lower() for value in values}
    return values if len(known) > 1 and known.isdisjoint(word_set("nouns", "no_values")) else ()
