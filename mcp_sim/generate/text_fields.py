"""Choose the writer of a text field by its format, its name and its kind of record."""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_sim.generate import wordlists as w
from mcp_sim.generate.field_writers import FORMATS, NAMES, REFINED_BY_NAME, TEXTS, FindWriter, Write, Writers, one_of
from mcp_sim.generate.labels import labels
from mcp_sim.generate.prose import has_subject
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.wordlists import THINGS
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import singular, snake, vocabulary
from mcp_sim.types.lexicon.translations import noun_in_english

_PEOPLE = vocabulary(
    "person contact user customer employee member lead patient author candidate student teacher agent owner client "
    "guest passenger attendee participant profile assignee driver doctor recipient sender player reviewer reporter "
    "subscriber applicant artist staff colleague nurse tutor instructor buyer seller host tenant donor volunteer "
    "creator actor borrower visitor manager requester me friend speaker guardian parent physician director composer "
    "cardholder holder supervisor coach trainer guide narrator winner chef nurse principal spouse dentist therapist "
    "lawyer judge pilot captain technician mechanic"
)
_COMPANIES = vocabulary(
    "company organization organisation vendor supplier business account brand employer partner manufacturer merchant "
    "airline store shop restaurant hotel agency firm publisher carrier bank dealer distributor workspace org "
    "counterparty payee insurer provider issuer manufacturer clinic sponsor advertiser seller_account"
)
_GOODS = vocabulary("product item article good sku part variant asset listing offer equipment")
_ROLE = re.compile(
    r"(.*_)?(author|owner|assignee|assigned_to|created_by|updated_by|modified_by|manager|reporter|sender|user|by|to|"
    r"recipient|attendee|participant|approver|reviewer|member|contact|customer|requester|guardian|nurse|physician|doctor|"
    r"teacher|director|composer|cardholder|holder|supervisor|coach|narrator|chef|instructor|tutor|pilot|captain|artist|"
    r"technician|parent|spouse|speaker|translator|editor|illustrator)s?"
)
_LINES = re.compile(r"(line|order|invoice|cart|basket|quote|purchase)_?(items?|lines?)|lines|positions")
_HOSTED = vocabulary("podcast event show meeting episode webinar session party")
_HEADS = vocabulary("headline subject heading caption goal objective purpose agenda topic theme slogan tagline motto")
_LONG_TEXTS = vocabulary(
    "summary synopsis biography overview abstract introduction background history story output result response answer "
    "data value markdown html transcript review opinion recommendation explanation context prompt template script"
)
_FOLDERS = vocabulary("folder directory dir workspace")


def text_writer(entity: str, name: str, schema: Record, setting: Setting) -> Write:
    """Return the writer of a text field, by its format, else by its name and its entity."""
    noun, name = noun_in_english(snake(entity.rpartition(".")[2])), noun_in_english(snake(name))
    writers = Writers(setting, noun)
    by_format = FORMATS.get(str(schema.get("format", "")))
    if by_format is not None and schema["format"] not in REFINED_BY_NAME:
        return by_format(writers)
    if by_format is not None and not REFINED_BY_NAME[schema["format"]].search(name):
        return by_format(writers)
    return _by_name(setting.theme.name, noun, name, _takes_code(schema))(writers)


def _takes_code(schema: Record) -> bool:
    """Whether the value can only be a two-letter code."""
    return schema.get("maxLength") == 2 or schema.get("pattern") in {"^[A-Z]{2}$", "[A-Z]{2}", "^[A-Za-z]{2}$"}


@lru_cache(maxsize=4096)
def _by_name(theme: str, noun: str, name: str, code: bool) -> FindWriter:
    last = noun.rsplit("_", 1)[-1]
    known = labels(f"{theme}_{noun}", name)
    if known:
        return lambda writers: writers.shapes.one_of(known)
    if name in {"path", "full_path"} and last in _FOLDERS:
        return lambda writers: writers.codes.folder
    if name.endswith("name") or name in {"label", "title"}:
        return _named(noun, name)
    if name in {"description", "title", "name"} and _LINES.fullmatch(noun):
        return lambda writers: writers.codes.product
    if name.endswith("country") and code:
        return lambda writers: writers.places.country_code
    if name == "host" and last in _HOSTED:
        return lambda writers: writers.people.someone
    if name == "summary" and has_subject(noun):
        return _title
    return _mailed(last, name) or _by_table(name)


def _mailed(noun: str, name: str) -> FindWriter | None:
    """Return the writer of the e-mail address of a company, or of a person whom the record names."""
    role = re.fullmatch(r"(.+)_e_?mail(_address)?", name)
    if role is not None:
        return lambda writers: writers.people.email_of(role[1])
    if noun in _COMPANIES and re.fullmatch(r"e_?mail(_address)?", name):
        return lambda writers: writers.people.office_email
    return None


def _by_table(name: str) -> FindWriter:
    for pattern, find in TEXTS:
        if pattern.fullmatch(name):
            return find
    if _ROLE.fullmatch(name):
        return lambda writers: writers.people.someone
    return _by_last_word(name)


def _by_last_word(name: str) -> FindWriter:
    last = singular(name.rsplit("_", 1)[-1])
    if last in _HEADS:
        return _title
    if last in _LONG_TEXTS:
        return lambda writers: writers.prose.text
    known = _of_kind(last)
    if known is not None:
        return known
    return lambda writers: writers.shapes.thing(last) if last in THINGS else writers.shapes.part(name)


# names ----------------------------------------------------------------------------------------------------------------


def _named(noun: str, name: str) -> FindWriter:
    """Return the writer of a name or title of the thing that the field, or else the entity, is named after."""
    for pattern, find in NAMES:
        if pattern.fullmatch(name):
            return find
    last = noun.rsplit("_", 1)[-1]
    about = name.removesuffix("name").rstrip("_").rsplit("_", 1)[-1]
    is_own = about in {"", "full", "display", "label", "title", "legal", "short", "real", last}
    if name == "title" and last in _PEOPLE:
        return lambda _writers: one_of(w.JOB_TITLES)
    known = _of_kind(last if is_own else singular(about))
    if known is not None:
        return known
    thing = noun if is_own else singular(about)
    if is_own and thing.rsplit("_", 1)[-1] not in THINGS and (name == "title" or has_subject(thing)):
        return _title
    return lambda writers: writers.shapes.thing(thing)


def _title(writers: Writers) -> Write:
    return writers.prose.title


def _of_kind(noun: str) -> FindWriter | None:
    """Return the writer of names of things of this kind."""
    if noun in _PEOPLE:
        return lambda writers: writers.people.person
    if noun in _COMPANIES:
        return lambda writers: writers.people.company
    if noun in _GOODS:
        return lambda writers: writers.codes.product
    return _KINDS.get(noun)


_KINDS: dict[str, FindWriter] = {
    "city": lambda writers: writers.places.city,
    "country": lambda writers: writers.places.country,
    "tag": lambda _writers: one_of(w.TAGS),
    "label": lambda _writers: one_of(w.TAGS),
    "topic": lambda writers: writers.codes.channel,
    "category": lambda writers: writers.codes.category,
    "collection": lambda writers: writers.codes.category,
    "genre": lambda writers: writers.codes.category,
    "channel": lambda writers: writers.codes.channel,
    "room": lambda writers: writers.codes.channel,
    "repo": lambda writers: writers.codes.channel,
    "repository": lambda writers: writers.codes.channel,
    "bucket": lambda writers: writers.codes.channel,
    "branch": lambda writers: writers.codes.branch,
    "team": lambda _writers: one_of(w.DEPARTMENTS),
    "department": lambda _writers: one_of(w.DEPARTMENTS),
    "group": lambda _writers: one_of(w.DEPARTMENTS),
    "calendar": lambda _writers: one_of(w.DEPARTMENTS),
    "file": lambda writers: writers.codes.file_name,
    "attachment": lambda writers: writers.codes.file_name,
    "image": lambda writers: writers.codes.file_name,
    "folder": lambda writers: writers.codes.category,
    "warehouse": lambda writers: writers.places.city,
    "location": lambda writers: writers.places.city,
    "host": lambda writers: writers.people.host,
}
