"""Writers of text fields, by format and by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from mcp_sim.generate import wordlists as w
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.codes import Codes, Shapes
from mcp_sim.generate.contacts import Addresses, People
from mcp_sim.generate.prose import Prose
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import vocabulary

NAMES: tuple[tuple[re.Pattern[str], FindWriter], ...] = (
    (re.compile(r"(first|given|fore)_?name"), lambda writers: writers.people.first_name),
    (re.compile(r"(last|family|sur)_?name"), lambda writers: writers.people.last_name),
    (re.compile(r"(user|login|screen|nick)_?name"), lambda writers: writers.people.username),
    (re.compile(r"(.*_)?(file|document)_?name"), lambda writers: writers.codes.file_name),
    (re.compile(r"(host|domain)_?name"), lambda writers: writers.people.host),
    (re.compile(r"job_title"), lambda _writers: one_of(w.JOB_TITLES)),
)

FORMATS: dict[str, FindWriter] = {
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

PICTURES = "avatar|image|photo|picture|thumbnail|poster|logo|cover"
REFINED_BY_NAME = {
    "email": re.compile(r"e_?mail(_address)?$"),
    "uri": re.compile(PICTURES),
    "url": re.compile(PICTURES),
}
"""Formats whose meaning depends on the field's name."""

_RULES: tuple[tuple[str, FindWriter], ...] = (
    (r"e_?mail(_address)?", FORMATS["email"]),
    (r"salutation|honorific", lambda writers: writers.people.salutation),
    (
        r"(.*_)?(avatar|image|photo|picture|thumbnail|poster|logo|cover)(_ur[li])?s?",
        lambda writers: writers.people.picture,
    ),
    (r"(from|to|cc|bcc|sender|recipient)s?|(.*_)?e_?mails?(_address)?", lambda writers: writers.people.an_email),
    (r"(.*_)?(phone|mobile|tel|telephone|fax)(_number)?", lambda writers: writers.people.phone),
    (r"(.*_)?(url|uri|link|website|homepage|avatar|image|photo|picture|thumbnail)s?", FORMATS["uri"]),
    (r"(.*_)?(domain|host|hostname)", FORMATS["hostname"]),
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
    (r"(.*_)?(uuid|guid)", FORMATS["uuid"]),
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
TEXTS = tuple((re.compile(pattern), find) for pattern, find in _RULES)


Write: TypeAlias = Callable[[Chance, Record, Moment], str]

_TALK = vocabulary("comment message reply note reaction chat post thread")


class Writers:
    """The writers of one setting and one kind of record, each created at its first use."""

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
        """The writer of messages for comments and chats, of texts for other records."""
        return self.prose.line if self.noun.rsplit("_", 1)[-1] in _TALK else self.prose.text


FindWriter: TypeAlias = Callable[[Writers], Write]


def one_of(options: Sequence[str]) -> Write:
    """Return a writer that draws one of these words."""
    return lambda chance, _record, _moment: chance.choice(options)
