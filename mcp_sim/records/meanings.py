"""What does a field's name promise: a person's name, an e-mail address, a price, a city?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from mcp_sim.records import wordlists as w
from mcp_sim.records.chance import Chance
from mcp_sim.records.timeline import Moment
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

Write: TypeAlias = Callable[[Chance, Record, Moment], str]

_PEOPLE = frozenset({
    "person", "contact", "user", "customer", "employee", "member", "lead", "patient", "author", "candidate",
    "student", "teacher", "agent", "owner", "client", "guest", "passenger", "attendee", "participant", "profile",
    "assignee", "driver", "doctor", "recipient", "sender", "player", "reviewer", "reporter", "subscriber",
    "applicant", "artist",
})  # fmt: skip
_COMPANIES = frozenset({
    "company", "organization", "organisation", "vendor", "supplier", "business", "account", "brand", "employer",
    "partner", "manufacturer", "merchant", "airline", "store", "shop", "restaurant", "hotel", "agency", "firm",
})  # fmt: skip
_GOODS = frozenset({"product", "item", "article", "good", "sku", "part", "variant"})
_ROLE = re.compile(
    r"(.*_)?(author|owner|assignee|assigned_to|created_by|updated_by|manager|reporter|sender|user|by|to)"
)


def text_meaning(entity: str, name: str, schema: Record) -> Write:
    """The writer of a text field, by its format, else by its name and the entity it belongs to."""
    by_format = _FORMATS.get(schema.get("format", ""))
    if by_format is not None:
        return by_format
    entity, name = snake(entity), snake(name)
    if name.endswith("name") or name in {"label", "title"}:
        return _name_writer(entity.rsplit("_", 1)[-1], name)
    if name.endswith("country") and _takes_code(schema):
        return _country_code
    for pattern, write in _TEXTS:
        if pattern.fullmatch(name):
            return write
    return _person if _ROLE.fullmatch(name) else _phrase


def _takes_code(schema: Record) -> bool:
    """True where a country can only be a code of two letters."""
    return schema.get("maxLength") == 2 or schema.get("pattern") in {"^[A-Z]{2}$", "[A-Z]{2}", "^[A-Za-z]{2}$"}


def number_meaning(name: str, *, whole: bool) -> tuple[float, float, float]:
    """Smallest, largest and step of what a number field of this name usually holds."""
    for pattern, low, high, step in _NUMBERS:
        if pattern.fullmatch(snake(name)):
            return low, high, max(1, step) if whole else step
    return (1, 100, 1) if whole else (0, 1000, 0.01)


# names ----------------------------------------------------------------------------------------------------------------


def _name_writer(noun: str, name: str) -> Write:
    if re.fullmatch(r"(first|given|fore)_?name", name):
        return _first_name
    if re.fullmatch(r"(last|family|sur)_?name|surname", name):
        return _last_name
    if re.fullmatch(r"(user|login|screen|nick)_?name|handle", name):
        return _username
    if re.fullmatch(r"(.*_)?(file|document)_?name", name):
        return _file_name
    about = name.removesuffix("name").rstrip("_").rsplit("_", 1)[-1]
    about = noun if about in {"", "full", "display", "label", "title", "legal"} else about
    if name == "title":
        return _job_title if about in _PEOPLE else _phrase
    if about in _PEOPLE:
        return _person
    if about in _COMPANIES:
        return _company
    if about in _GOODS:
        return _product
    special: dict[str, Write] = {"city": _city, "country": _country, "tag": _one_of(w.TAGS), "label": _one_of(w.TAGS)}
    return special.get(about, _phrase)


def _first_name(chance: Chance, record: Record, _moment: Moment) -> str:
    whole = _whole_name(record)
    return whole.split()[0] if whole else chance.choice(w.FIRST_NAMES)


def _last_name(chance: Chance, record: Record, _moment: Moment) -> str:
    whole = _whole_name(record)
    return whole.split()[-1] if whole else chance.choice(w.LAST_NAMES)


def _person(chance: Chance, record: Record, _moment: Moment) -> str:
    first, last = _told(record, "first_name", "firstName"), _told(record, "last_name", "lastName")
    if isinstance(first, str) and isinstance(last, str):
        return f"{first} {last}"
    return f"{chance.choice(w.FIRST_NAMES)} {chance.choice(w.LAST_NAMES)}"


def _whole_name(record: Record) -> str:
    found = _told(record, "name", "full_name", "fullName", "display_name", "displayName")
    return found if isinstance(found, str) else ""


def _told(record: Record, *names: str) -> Json:
    """The first of these fields that the record has."""
    return next((record[name] for name in names if record.get(name)), None)


def _username(chance: Chance, record: Record, _moment: Moment) -> str:
    return _address(chance, record).replace(".", "_")


def _company(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.choice(w.COMPANY_STEMS)} {chance.choice(w.COMPANY_FORMS)}"


def _product(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.choice(w.PRODUCT_STYLES)} {chance.choice(w.PRODUCT_KINDS).lower()}"


# addresses of all kinds -----------------------------------------------------------------------------------------------


def _address(chance: Chance, record: Record) -> str:
    """The part of an e-mail address before the @: the record's own name, where it has one."""
    first, last = _told(record, "first_name", "firstName"), _told(record, "last_name", "lastName")
    whole = f"{first} {last}" if isinstance(first, str) and isinstance(last, str) else _whole_name(record)
    slug = _slug(whole or f"{chance.choice(w.FIRST_NAMES)} {chance.choice(w.LAST_NAMES)}", ".")
    return slug or f"user{chance.between(100, 999)}"


def _email(chance: Chance, record: Record, _moment: Moment) -> str:
    return f"{_address(chance, record)}@{chance.choice(w.COMPANY_STEMS).lower()}.example"


def _url(chance: Chance, record: Record, _moment: Moment) -> str:
    slug = _slug(_whole_name(record).split(" ", maxsplit=1)[0], "-") or chance.choice(w.COMPANY_STEMS).lower()
    return f"https://{slug}.example"


def _host(chance: Chance, record: Record, moment: Moment) -> str:
    return _url(chance, record, moment).removeprefix("https://")


def _phone(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"+31 {chance.between(10, 79)} 555 {chance.below(10000):04d}"


def _street(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.choice(w.STREETS)} {chance.between(1, 180)}"


def _city(chance: Chance, record: Record, _moment: Moment) -> str:
    country = _told(record, "country", "country_code", "countryCode")
    near = [place for place in w.CITIES if country in place.split(",")[1:]]
    return chance.choice(near or w.CITIES).split(",")[0]


def _country_code(chance: Chance, record: Record, _moment: Moment) -> str:
    return _place_of(record, 1) or chance.choice(w.CITIES).split(",")[1]


def _country(chance: Chance, record: Record, _moment: Moment) -> str:
    return _place_of(record, 2) or chance.choice(w.CITIES).split(",")[2]


def _place_of(record: Record, part: int) -> str | None:
    city = record.get("city")
    return next((place.split(",")[part] for place in w.CITIES if city and place.startswith(f"{city},")), None)


def _postal_code(chance: Chance, _record: Record, _moment: Moment) -> str:
    return str(chance.between(10000, 99999))


def _ip(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"192.0.2.{chance.between(1, 254)}"


# things and phrases ---------------------------------------------------------------------------------------------------


def _phrase(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.choice(w.ACTIONS)} {chance.choice(w.MATTERS)}"


def _text(chance: Chance, _record: Record, _moment: Moment) -> str:
    return " ".join(chance.choice(w.SENTENCES) for _ in range(chance.between(1, 2)))


def _job_title(chance: Chance, _record: Record, _moment: Moment) -> str:
    return chance.choice(w.JOB_TITLES)


def _code(chance: Chance, _record: Record, _moment: Moment) -> str:
    return "".join(chance.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(3)) + f"-{chance.below(10000):04d}"


def _hash(chance: Chance, _record: Record, _moment: Moment) -> str:
    return "".join(chance.choice("0123456789abcdef") for _ in range(40))


def _uuid(chance: Chance, _record: Record, _moment: Moment) -> str:
    number = 0
    for _ in range(4):
        number = number << 32 | chance.below(1 << 32)
    return str(UUID(int=number, version=4))


def _file_name(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{_slug(chance.choice(w.MATTERS).removeprefix('the '), '_')}.{chance.choice(w.FILE_ENDINGS)}"


def _path(chance: Chance, record: Record, moment: Moment) -> str:
    return f"/{chance.choice(w.TAGS)}/{_file_name(chance, record, moment)}"


def _slugged(chance: Chance, record: Record, moment: Moment) -> str:
    told = _told(record, "title", "name")
    return _slug(told if isinstance(told, str) else _phrase(chance, record, moment), "-")


def _version(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.between(1, 5)}.{chance.below(12)}.{chance.below(20)}"


def _clock_time(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"{chance.between(8, 18):02d}:{15 * chance.below(4):02d}"


def _duration(chance: Chance, _record: Record, _moment: Moment) -> str:
    return f"PT{chance.between(5, 90)}M"


def _one_of(options: tuple[str, ...]) -> Write:
    return lambda chance, _record, _moment: chance.choice(options)


def _slug(text: str, joint: str) -> str:
    return joint.join(re.findall(r"[a-z0-9]+", text.lower()))


_FORMATS: dict[str, Write] = {
    "email": _email,
    "idn-email": _email,
    "uri": _url,
    "url": _url,
    "iri": _url,
    "uri-reference": _url,
    "hostname": _host,
    "uuid": _uuid,
    "ipv4": _ip,
    "ipv6": lambda chance, _record, _moment: f"2001:db8::{chance.between(1, 9999):x}",
    "duration": _duration,
    "regex": lambda _chance, _record, _moment: "^[a-z]+$",
    "json-pointer": lambda _chance, _record, _moment: "/name",
}

_TEXTS: tuple[tuple[re.Pattern[str], Write], ...] = tuple(
    (re.compile(pattern), write)
    for pattern, write in (
        (r"(.*_)?e_?mail(_address)?", _email),
        (r"(.*_)?(phone|mobile|tel|telephone|fax)(_number)?", _phone),
        (r"(.*_)?(url|uri|link|website|homepage|avatar|image|photo|picture|thumbnail)", _url),
        (r"(.*_)?(domain|host|hostname)", _host),
        (r"(.*_)?(company|organization|organisation|employer|vendor|supplier|brand|manufacturer)", _company),
        (r"(.*_)?(product|item)", _product),
        (r"(.*_)?country_code|nationality", _country_code),
        (r"(.*_)?country", _country),
        (r"(.*_)?(city|town|location|place|venue|origin|destination)", _city),
        (r"(.*_)?(street|address|address_line_?\d?|line_?\d|street_address)", _street),
        (r"(.*_)?(zip|zip_code|zipcode|postal_code|postcode)", _postal_code),
        (r"(.*_)?currency(_code)?", _one_of(w.CURRENCIES)),
        (r"(.*_)?(language|locale|lang)", _one_of(w.LANGUAGES)),
        (r"(.*_)?(time_?zone|tz)", _one_of(w.TIME_ZONES)),
        (r"job_title|position|occupation|job|role|profession", _job_title),
        (r"(.*_)?(industry|sector)", _one_of(w.INDUSTRIES)),
        (r"(.*_)?(department|team|division|group)", _one_of(w.DEPARTMENTS)),
        (r"(.*_)?(status|state|stage|phase)", _one_of(w.STATUSES)),
        (r"(.*_)?(priority|severity|urgency|importance|level)", _one_of(w.PRIORITIES)),
        (r"(.*_)?(type|kind|category|genre|classification)", _one_of(w.CATEGORIES)),
        (r"(.*_)?colou?r", _one_of(w.COLORS)),
        (r"(.*_)?(tag|tags|label|labels|keyword|keywords|topic|topics)", _one_of(w.TAGS)),
        (
            r"(.*_)?(notes?|description|body|content|comments?|message|text|summary|bio|details?|about|reason|feedback)",
            _text,
        ),
        (r"(.*_)?(user|login|handle)", _username),
        (r"(.*_)?(sha|hash|checksum|digest|token|secret|commit)", _hash),
        (r"(.*_)?(uuid|guid)", _uuid),
        (r"(.*_)?(slug|permalink)", _slugged),
        (r"(.*_)?(sku|code|number|ref|reference|serial|barcode|symbol|id|key|identifier)", _code),
        (r"(.*_)?(path|directory|folder|filepath)", _path),
        (r"(.*_)?(file|filename|attachment|document)", _file_name),
        (r"(.*_)?version", _version),
        (r"(.*_)?ip(_address)?", _ip),
        (r"(.*_)?(time|hour)", _clock_time),
        (r"gender|sex", _one_of(("female", "male"))),
    )
)

_NUMBERS: tuple[tuple[re.Pattern[str], float, float, float], ...] = tuple(
    (re.compile(pattern), low, high, step)
    for pattern, low, high, step in (
        (r"(.*_)?(price|cost|fee|rate_per_.*|unit_price)", 2, 500, 0.01),
        (r"(.*_)?(amount|total|subtotal|value|revenue|budget|balance|salary|spend|income|credit)", 50, 20000, 0.01),
        (r"(.*_)?(employee|staff|member|head)s?(_count)?|employees", 3, 900, 1),
        (r"(.*_)?(quantity|qty|stock|inventory|units?)", 0, 250, 1),
        (r"(.*_)?(count|num|views|likes|number_of_.*|num_.*)", 0, 120, 1),
        (r"(.*_)?age", 18, 80, 1),
        (r"(.*_)?(percent|percentage|progress|completion)", 0, 100, 1),
        (r"(.*_)?(probability|ratio|confidence|fraction|share)", 0, 1, 0.01),
        (r"(.*_)?(rating|stars)", 1, 5, 0.5),
        (r"(.*_)?score", 0, 100, 1),
        (r"(.*_)?(lat|latitude)", 36, 60, 0.0001),
        (r"(.*_)?(lon|lng|longitude)", -10, 30, 0.0001),
        (r"(.*_)?year", 2015, 2029, 1),
        (r"(.*_)?(duration|minutes|length)(_.*)?", 5, 180, 1),
        (r"(.*_)?(size|bytes)", 200, 5_000_000, 1),
        (r"(.*_)?(weight|height|width|depth|distance)", 1, 200, 0.1),
        (r"(.*_)?(temperature|temp)", -5, 35, 0.1),
        (r"(.*_)?(priority|level|order|position|rank|index)", 1, 5, 1),
        (r"(.*_)?discount", 0, 30, 1),
        (r"(.*_)?port", 1024, 49151, 1),
    )
)
