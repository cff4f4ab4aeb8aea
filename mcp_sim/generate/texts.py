"""Generate texts that are plausible for the field's name and satisfy length and pattern."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.makers import MAX_LENGTH, MAX_NUMBER, Make
from mcp_sim.generate.patterns import matching_text
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.text_fields import text_writer
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.timeline import Moment, time_maker
from mcp_sim.types import Json, Record


def text_maker(entity: str, name: str, schema: Record, setting: Setting) -> Make:
    """Return the maker of a text field."""
    make = (
        time_maker(entity, name, schema) if time_meaning(name, schema) else text_writer(entity, name, schema, setting)
    )
    if (schema.get("contentEncoding") == "base64" or schema.get("format") == "byte") and "pattern" not in schema:
        return _in_base64(make, schema)
    if not schema.keys() & {"minLength", "maxLength", "pattern"}:
        return make

    def fitting(chance: Chance, record: Record, moment: Moment) -> Json:
        value: Json = make(chance, record, moment)
        return value if text_fits(value, schema) else fitted_text(str(value), schema, chance)

    return fitting


def _in_base64(make: Make, schema: Record) -> Make:
    """Return the maker of texts in base64: four characters for three of the text, within the lengths of the schema."""
    fewest, most = -(-schema.get("minLength", 0) // 4), schema.get("maxLength", MAX_NUMBER) // 4
    bounds: Record = {"minLength": max(0, 3 * fewest - 2), "maxLength": 3 * most}

    def encoded(chance: Chance, record: Record, moment: Moment) -> Json:
        text = str(make(chance, record, moment)).encode("ascii", "replace").decode()
        return b64encode((text if text_fits(text, bounds) else fitted_text(text, bounds, chance)).encode()).decode()

    return encoded


def text_fits(text: str, schema: Record) -> bool:
    """Return whether a text satisfies length and pattern. Formats are not checked."""
    length_ok = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", MAX_NUMBER)
    return length_ok and ("pattern" not in schema or _matches(schema["pattern"], text))


def fitted_text(text: str, schema: Record, chance: Chance) -> str:
    """Return the text, changed to satisfy its schema, or another one that matches its pattern."""
    if "pattern" in schema:
        bounds = schema.get("minLength", 0), schema.get("maxLength", MAX_NUMBER)
        fitting = next((form for form in _forms(text) if text_fits(form, schema)), None)
        fitting = matching_text(schema["pattern"], chance, *bounds) if fitting is None else fitting
        return text if fitting is None else fitting
    shortest, longest = min(schema.get("minLength", 0), MAX_LENGTH), schema.get("maxLength", MAX_NUMBER)
    if len(text) < shortest:
        text = " ".join([text or "x"] * (shortest // max(1, len(text)) + 1))[:shortest]
    if shortest <= len(text) <= longest:
        return text
    cut = text[:longest]
    return cut.rstrip() if len(cut.rstrip()) >= shortest else cut


def _forms(text: str) -> Iterator[str]:
    """Yield other spellings of a text, as patterns of codes and paths require them."""
    yield from (f"{text}/", text.lower(), text.upper())
    for joint in "-_":
        yield from (forms := slug(text, joint), forms.upper())
    yield "".join(piece.capitalize() for piece in slug(text, " ").split())
    yield re.sub(r"[^A-Z]", "", text.upper())


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True
