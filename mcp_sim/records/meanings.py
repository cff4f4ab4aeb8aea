"""What does a field's name promise: a person's name, an e-mail address, a price, a city?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from mcp_sim.records import wordlists as w
from mcp_sim.records.addresses import Addresses
from mcp_sim.records.chance import Chance
from mcp_sim.records.codes import Codes
from mcp_sim.records.labels import labels
from mcp_sim.records.people import People
from mcp_sim.records.prose import Prose, says_what
from mcp_sim.records.setting import Setting
from mcp_sim.records.shapes import Shapes
from mcp_sim.records.things import THINGS
from mcp_sim.records.timeline import Moment
from mcp_sim.types import Record
from mcp_sim.words import singular, snake, vocabulary

Write: TypeAlias = Callable[[Chance, Record, Moment], str]

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
_TALK = vocabulary("comment message reply note reaction chat post thread")


class Writers:
    """The writers of one setting and one kind of record, each made when a field first asks for it."""

    def __init__(self, setting: Setting, noun: str) -> None:
        self._setting, self.noun = setting, noun

    @cached_property
    def people(self) -> People:
        return People(self._setting)

    @cached_property
    def places(self) -> Addresses:
        return Addresses(self._setting)

    @cached_property
    def codes(self) -> Codes:
        return Codes(self._setting, self.noun)

    @cached_property
    def shapes(self) -> Shapes:
        return Shapes(self._setting)

    @cached_property
    def prose(self) -> Prose:
        return Prose(self._setting, self.noun)

    @property
    def talk(self) -> Write:
        """What people say where they talk, else a text."""
        return self.prose.line if self.noun.rsplit("_", 1)[-1] in _TALK else self.prose.text


Find: TypeAlias = Callable[[Writers], Write]


def text_meaning(entity: str, name: str, schema: Record, setting: Setting) -> Write:
    """The writer of a text field, by its format, else by its name and the entity it belongs to."""
    noun, name = snake(entity.rpartition(".")[2]), snake(name)
    writers = Writers(setting, noun)
    by_format = _FORMATS.get(str(schema.get("format", "")))
    if by_format is not None and schema["format"] not in _TOLD_BY_NAME:
        return by_format(writers)
    if by_format is not None and not _TOLD_BY_NAME[schema["format"]].search(name):
        return by_format(writers)
    return _by_name(setting.theme.name, noun, name, _takes_code(schema))(writers)


def _takes_code(schema: Record) -> bool:
    """True where a country or a currency can only be a short code."""
    return schema.get("maxLength") == 2 or schema.get("pattern") in {"^[A-Z]{2}$", "[A-Z]{2}", "^[A-Za-z]{2}$"}


@lru_cache(maxsize=4096)
def _by_name(theme: str, noun: str, name: str, code: bool) -> Find:
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
    if name == "summary" and says_what(noun):
        return _title
    return _mailed(last, name) or _by_table(name)


def _mailed(noun: str, name: str) -> Find | None:
    """The writer of an address of somebody whom the record names, or of a company."""
    role = re.fullmatch(r"(.+)_e_?mail(_address)?", name)
    if role is not None:
        return lambda writers: writers.people.email_of(role[1])
    if noun in _COMPANIES and re.fullmatch(r"e_?mail(_address)?", name):
        return lambda writers: writers.people.office_email
    return None


def _by_table(name: str) -> Find:
    for pattern, find in _TEXTS:
        if pattern.fullmatch(name):
            return find
    if _ROLE.fullmatch(name):
        return lambda writers: writers.people.someone
    return _by_last_word(name)


def _by_last_word(name: str) -> Find:
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


def _named(noun: str, name: str) -> Find:
    """The writer of a name or a title: of what, the field or else the entity says."""
    for pattern, find in _NAMES:
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
    if is_own and thing.rsplit("_", 1)[-1] not in THINGS and (name == "title" or says_what(thing)):
        return _title
    return lambda writers: writers.shapes.thing(thing)


def _title(writers: Writers) -> Write:
    return writers.prose.title


def _of_kind(noun: str) -> Find | None:
    """The writer of what a thing of this kind is called."""
    if noun in _PEOPLE:
        return lambda writers: writers.people.person
    if noun in _COMPANIES:
        return lambda writers: writers.people.company
    if noun in _GOODS:
        return lambda writers: writers.codes.product
    return _KINDS.get(noun)


def one_of(options: Sequence[str]) -> Write:
    """One of these words."""
    return lambda chance, _record, _moment: chance.choice(options)


_KINDS: dict[str, Find] = {
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

_NAMES: tuple[tuple[re.Pattern[str], Find], ...] = (
    (re.compile(r"(first|given|fore)_?name"), lambda writers: writers.people.first_name),
    (re.compile(r"(last|family|sur)_?name"), lambda writers: writers.people.last_name),
    (re.compile(r"(user|login|screen|nick)_?name"), lambda writers: writers.people.username),
    (re.compile(r"(.*_)?(file|document)_?name"), lambda writers: writers.codes.file_name),
    (re.compile(r"(host|domain)_?name"), lambda writers: writers.people.host),
    (re.compile(r"job_title"), lambda _writers: one_of(w.JOB_TITLES)),
)

_FORMATS: dict[str, Find] = {
    "email": lambda writers: writers.people.email,
    "idn-email": lambda writers: writers.people.email,
    "uri": lambda writers: writers.people.url,
    "url": lambda writers: writers.people.url,
    "iri": lambda writers: writers.people.url,
    "uri-reference": lambda writers: writers.people.url,
    "iri-reference": lambda writers: writers.people.url,
    "uri-template": lambda writers: writers.people.url,
    "hostname": lambda writers: writers.people.host,
    "idn-hostname": lambda writers: writers.people.host,
    "uuid": lambda writers: writers.codes.uuid,
    "ipv4": lambda writers: writers.codes.ip,
    "ipv6": lambda _writers: lambda chance, _record, _moment: f"2001:db8::{chance.between(1, 9999):x}",
    "duration": lambda writers: writers.codes.duration,
    "regex": lambda _writers: one_of(("^[a-z]+$", "^[A-Z]{3}$")),
    "json-pointer": lambda _writers: one_of(("/name", "/items/0", "/id")),
    "relative-json-pointer": lambda _writers: one_of(("0", "1/name")),
}

_PICTURES = "avatar|image|photo|picture|thumbnail|poster|logo|cover"
_TOLD_BY_NAME = {
    "email": re.compile(r"e_?mail(_address)?$"),
    "uri": re.compile(_PICTURES),
    "url": re.compile(_PICTURES),
}
"""Formats of which a field's name may tell more."""

_RULES: tuple[tuple[str, Find], ...] = (
    (r"e_?mail(_address)?", _FORMATS["email"]),
    (r"salutation|honorific", lambda writers: writers.people.salutation),
    (
        r"(.*_)?(avatar|image|photo|picture|thumbnail|poster|logo|cover)(_ur[li])?s?",
        lambda writers: writers.people.picture,
    ),
    (r"(from|to|cc|bcc|sender|recipient)s?|(.*_)?e_?mails?(_address)?", lambda writers: writers.people.an_email),
    (r"(.*_)?(phone|mobile|tel|telephone|fax)(_number)?", lambda writers: writers.people.phone),
    (r"(.*_)?(url|uri|link|website|homepage|avatar|image|photo|picture|thumbnail)s?", _FORMATS["uri"]),
    (r"(.*_)?(domain|host|hostname)", _FORMATS["hostname"]),
    (
        r"(.*_)?(company|organization|organisation|employer|vendor|supplier|brand|manufacturer|carrier|publisher)",
        lambda writers: writers.people.company,
    ),
    (r"(.*_)?(product|item)", lambda writers: writers.codes.product),
    (r"(.*_)?country_code|nationality", lambda writers: writers.places.country_code),
    (r"(.*_)?country", lambda writers: writers.places.country),
    (r"(.*_)?(city|town|location|place|venue|origin|destination)", lambda writers: writers.places.city),
    (r"(.*_)?(street|address_line_?\d?|line_?\d|street_address)", lambda writers: writers.places.street),
    (r"(ip|ip_address|(.*_)ip(_address)?)", lambda writers: writers.codes.ip),
    (r"(.*_)?address", lambda writers: writers.places.address),
    (r"(.*_)?(zip|zip_code|zipcode|postal_code|postcode)", lambda writers: writers.places.postal_code),
    (r"(.*_)?currency(_code)?", lambda writers: writers.places.currency),
    (r"(.*_)?locale", lambda writers: writers.places.locale),
    (r"(.*_)?(language|lang)s?", lambda writers: writers.places.language),
    (r"(.*_)?(time_?zone|tz)", lambda writers: writers.places.time_zone),
    (r"(.*_)?job_title|position|occupation|job|role|profession|designation", lambda _writers: one_of(w.JOB_TITLES)),
    (r"(.*_)?(industry|sector)", lambda _writers: one_of(w.INDUSTRIES)),
    (r"(.*_)?(department|team|division|group)", lambda _writers: one_of(w.DEPARTMENTS)),
    (r"(.*_)?(status|state|stage|phase)", lambda _writers: one_of(w.STATUSES)),
    (r"(.*_)?(priority|severity|urgency|importance|level)", lambda _writers: one_of(w.PRIORITIES)),
    (r"(.*_)?(type|kind|category|genre|classification|collection)", lambda writers: writers.codes.category),
    (r"(.*_)?colou?r", lambda _writers: one_of(w.COLORS)),
    (r"(.*_)?(tag|label|keyword)s?", lambda _writers: one_of(w.TAGS)),
    (r"(.*_)?(emoji|reaction)s?", lambda _writers: one_of(w.EMOJI)),
    (r"payment_method|method", lambda _writers: one_of(w.METHODS)),
    (r"unit|uom", lambda _writers: one_of(w.UNITS)),
    (r"(lead_)?source", lambda _writers: one_of(w.SOURCES)),
    (r"(.*_)?(comments?|message|text|reply|snippet|body|content)", lambda writers: writers.talk),
    (
        r"(.*_)?(notes?|description|bio|details?|about|reason|feedback|observations?|instructions?|"
        r"abstract|excerpt|remarks?)",
        lambda writers: writers.prose.text,
    ),
    (r"(.*_)?(user|login|handle)", lambda writers: writers.people.username),
    (r"(.*_)?(sha|hash|checksum|digest|token|secret|commit|etag)\d*", lambda writers: writers.codes.hash),
    (r"(.*_)?(uuid|guid)", _FORMATS["uuid"]),
    (r"(.*_)?(slug|permalink)", lambda writers: writers.codes.slugged),
    (r"sku|(product|item|article)_(code|number)", lambda writers: writers.codes.sku),
    (r"isbn(_?1[03])?", lambda writers: writers.codes.isbn),
    (r"ean|gtin|upc|(.*_)?barcode", lambda writers: writers.codes.barcode),
    (
        r"(invoice|order|quote|ticket|case|contract|reference|booking|po)?_?(number|no|ref|reference)",
        lambda writers: writers.codes.number,
    ),
    (r"(.*_)?(sku|code|number|ref|reference|serial|symbol|id|key|identifier)", lambda writers: writers.codes.code),
    (r"(.*_)?(directory|folder|dir|cwd)", lambda writers: writers.codes.folder),
    (r"(.*_)?(path|filepath)", lambda writers: writers.codes.path),
    (r"(.*_)?(file|filename|attachment|document)s?", lambda writers: writers.codes.file_name),
    (r"(.*_)?version", lambda writers: writers.codes.version),
    (r"(.*_)?(time|hour)", lambda writers: writers.codes.clock_time),
    (r"(.*_)?branch|head|base", lambda writers: writers.codes.branch),
    (r"gender|sex", lambda _writers: one_of(("female", "male"))),
)
_TEXTS = tuple((re.compile(pattern), find) for pattern, find in _RULES)
