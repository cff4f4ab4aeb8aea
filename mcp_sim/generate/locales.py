"""Countries: currency, telephone numbers, company names, and the names of their people and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Locale:
    """A country. `code` is the locale of the library that generates the names of people and places.

    `areas` are telephone area codes, `forms` endings of company names such as GmbH, `words` the names of the country
    in descriptions (lower case).
    """

    code: str
    country: str
    country_code: str
    currency: str
    calling: str
    language: str
    time_zone: str
    areas: tuple[str, ...]
    forms: tuple[str, ...]
    words: tuple[str, ...]


def _locale(line: str) -> Locale:
    code, country, iso, currency, calling, language, zone, areas, forms, words = (
        part.strip() for part in line.split("|")
    )
    names = (country.lower(), *(word.strip() for word in words.split(",")))
    return Locale(code, country, iso, currency, calling, language, zone, tuple(areas.split()), _forms(forms), names)


def _forms(text: str) -> tuple[str, ...]:
    return tuple(form.strip() for form in text.split(";"))


_TABLE = """
en|United States|US|USD|1|en|America/New_York|212 312 415 617 206 303|Inc.; LLC; Group; & Co.; Partners|\
american, usa, u.s., us-based, new york, chicago, boston, seattle, san francisco, texas, california, denver, \
estados unidos, états-unis
en-gb|United Kingdom|GB|GBP|44|en|Europe/London|20 121 161 131 113|Ltd; PLC; & Sons; Group|\
british, uk, english, england, scottish, scotland, welsh, london, manchester, edinburgh, leeds
en-ca|Canada|CA|CAD|1|en|America/Toronto|416 604 514 403|Inc.; Ltd.; Group|canadian, toronto, vancouver, montreal
en-au|Australia|AU|AUD|61|en|Australia/Sydney|2 3 7 8|Pty Ltd; Group; Holdings|australian, sydney, melbourne, brisbane
nl|Netherlands|NL|EUR|31|nl|Europe/Amsterdam|20 10 30 70 40 50|B.V.; B.V.; V.O.F.; Groep; Nederland B.V.|\
dutch, holland, amsterdam, rotterdam, utrecht, the hague, eindhoven, groningen, nederland, nederlandse
nl-be|Belgium|BE|EUR|32|nl|Europe/Brussels|2 3 9 11|NV; BV; Groep|belgian, flemish, belgië, belgische, gent, \
brussels, antwerp, ghent
de|Germany|DE|EUR|49|de|Europe/Berlin|30 40 89 221 69 711|GmbH; GmbH; AG; GmbH & Co. KG; e.K.|\
german, berlin, munich, hamburg, cologne, frankfurt, stuttgart, deutschland, deutsche, deutscher, deutsches, münchen, \
köln, leipzig, dresden, bremen, hannover, nürnberg
de-at|Austria|AT|EUR|43|de|Europe/Vienna|1 316 662 512|GmbH; OG; AG|austrian, vienna, graz, salzburg, \
österreich, österreichische, österreichischer, wien, linz
de-ch|Switzerland|CH|CHF|41|de|Europe/Zurich|44 31 61 22|AG; GmbH; & Cie|swiss, zurich, bern, basel, geneva, \
schweiz, schweizer, zürich
fr|France|FR|EUR|33|fr|Europe/Paris|1 2 3 4 5|SARL; SAS; SA; & Fils; et Associés|\
french, paris, lyon, marseille, toulouse, nantes, français, française, bordeaux, lille, strasbourg
es|Spain|ES|EUR|34|es|Europe/Madrid|91 93 95 96|S.L.; S.A.; e Hijos; Grupo|\
spanish, madrid, barcelona, valencia, seville, españa, española, español, sevilla, bilbao
es-mx|Mexico|MX|MXN|52|es|America/Mexico_City|55 33 81|S.A. de C.V.; Grupo; S. de R.L.|\
mexican, mexico city, méxico, mexicana, mexicano, guadalajara, monterrey
it|Italy|IT|EUR|39|it|Europe/Rome|02 06 011 051|S.r.l.; S.p.A.; & Figli; Gruppo|\
italian, rome, milan, turin, bologna, florence, italia, italiana, italiano, roma, milano, torino, firenze, napoli
pt|Portugal|PT|EUR|351|pt|Europe/Lisbon|21 22 23|Lda.; S.A.; & Filhos|portuguese, lisbon, porto, \
lisboa, portuguesa, português
pt-br|Brazil|BR|BRL|55|pt|America/Sao_Paulo|11 21 31 41|Ltda.; S.A.; & Filhos|\
brazilian, são paulo, sao paulo, rio de janeiro, brasil, brasileira, brasileiro, curitiba, belo horizonte, salvador, \
recife, porto alegre, fortaleza, brasília, brasilia, paraná
pl|Poland|PL|PLN|48|pl|Europe/Warsaw|22 12 61 71|Sp. z o.o.; S.A.; sp. j.|polish, warsaw, krakow, gdansk, \
poznan, polska, polski, warszawa, kraków
cs|Czechia|CZ|CZK|420|cs|Europe/Prague|2 5|s.r.o.; a.s.; & syn|czech, prague, brno
sk|Slovakia|SK|EUR|421|sk|Europe/Bratislava|2 55|s.r.o.; a.s.|slovak, bratislava
da|Denmark|DK|DKK|45|da|Europe/Copenhagen|33 86 98|A/S; ApS; I/S|danish, copenhagen, aarhus, danmark, københavn
sv|Sweden|SE|SEK|46|sv|Europe/Stockholm|8 31 40|AB; AB; & Co; Gruppen|swedish, stockholm, gothenburg, \
malmo, sverige, svenska, göteborg, malmö
no|Norway|NO|NOK|47|no|Europe/Oslo|22 55 73|AS; ASA; & Sønn|norwegian, oslo, bergen, trondheim, norge, norsk
fi|Finland|FI|EUR|358|fi|Europe/Helsinki|9 3 2|Oy; Oyj; Ky|finnish, helsinki, tampere, suomi
is|Iceland|IS|ISK|354|is|Atlantic/Reykjavik|4 5|hf.; ehf.|icelandic, reykjavik
et|Estonia|EE|EUR|372|et|Europe/Tallinn|6 7|OÜ; AS|estonian, tallinn
el|Greece|GR|EUR|30|el|Europe/Athens|21 231|ΑΕ; ΕΠΕ; & Υιοί|greek, athens
hu|Hungary|HU|HUF|36|hu|Europe/Budapest|1 62|Kft.; Zrt.; Bt.|hungarian, budapest
hr|Croatia|HR|EUR|385|hr|Europe/Zagreb|1 21|d.o.o.; d.d.|croatian, zagreb, split
tr|Türkiye|TR|TRY|90|tr|Europe/Istanbul|212 312 232|A.Ş.; Ltd. Şti.|turkish, turkey, istanbul, ankara, izmir, türk
ru|Russia|RU|RUB|7|ru|Europe/Moscow|495 812|ООО; АО|russian, moscow, saint petersburg
uk|Ukraine|UA|UAH|380|uk|Europe/Kyiv|44 32|ТОВ; ПрАТ|ukrainian, kyiv, kiev, lviv
ja|Japan|JP|JPY|81|ja|Asia/Tokyo|3 6 52|株式会社; 商事; 工業; 物産|\
japanese, tokyo, osaka, kyoto, nagoya, sapporo, fukuoka
zh|China|CN|CNY|86|zh|Asia/Shanghai|10 21 20 755|有限公司; 集团; 贸易有限公司|\
chinese, beijing, shanghai, shenzhen, guangzhou
ko|South Korea|KR|KRW|82|ko|Asia/Seoul|2 51|주식회사; 상사; 산업|korean, korea, seoul, busan
ar-ae|United Arab Emirates|AE|AED|971|ar|Asia/Dubai|4 2|ش.م.ح; شركة; التجارية|emirati, uae, dubai, abu dhabi
ar-sa|Saudi Arabia|SA|SAR|966|ar|Asia/Riyadh|11 12|شركة; التجارية; القابضة|saudi, riyadh, jeddah, arabic
ar-eg|Egypt|EG|EGP|20|ar|Africa/Cairo|2 3|شركة; التجارية|egyptian, cairo, alexandria
ar-ma|Morocco|MA|MAD|212|ar|Africa/Casablanca|5 6|شركة; التجارية|moroccan, casablanca, rabat
fa|Iran|IR|IRR|98|fa|Asia/Tehran|21 31|شرکت; بازرگانی|iranian, persian, tehran
"""

LOCALES = tuple(_locale(line) for line in _TABLE.strip().splitlines())
USUAL = LOCALES[0]
"""The default locale."""

SCRIPTS: tuple[tuple[str, str, str], ...] = (
    ("\u3040", "\u30ff", "ja"),
    ("\uac00", "\ud7af", "ko"),
    ("\u4e00", "\u9fff", "zh"),
    ("\u0600", "\u06ff", "ar-sa"),
    ("\u0400", "\u04ff", "ru"),
    ("\u0370", "\u03ff", "el"),
)
"""First and last letter of a script, and the locale of descriptions in it."""


def _small_words(text: str) -> dict[str, frozenset[str]]:
    lines = (line.split(":") for line in text.strip().splitlines())
    return {code: frozenset(words.split()) for code, words in lines}


SMALL_WORDS = _small_words("""
en: a an the of and for with in to is its by from on
de: der die das und ein eine einer mit für am im von den dem des ist
fr: le la les des une un du et dans pour avec au de est
es: el la los las una un y en con para del de es
it: il lo gli della del una un e con per di che in è
nl: het een van de en voor met op te is in
pt-br: um uma o os as da do das dos e em com para de é no na
""")
"""Function words of a language, by the locale of descriptions in it."""


_SEED = 1
_FIRST, _LAST, _PLACES = 260, 600, 300
_TRIES = 3


@dataclass(frozen=True, slots=True)
class NamePool:
    """Names of one locale. Given and family names come as a pair: women's, men's."""

    given: tuple[tuple[str, ...], tuple[str, ...]]
    family: tuple[tuple[str, ...], tuple[str, ...]]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    postal_codes: tuple[str, ...]


@lru_cache(maxsize=64)
def name_pool(locale: str) -> NamePool:
    """Return the names of a locale. They are drawn once from a library and are always the same."""
    from mimesis import Address, Gender, Locale, Person  # noqa: PLC0415 (60 ms, once a world is generated)

    person, address = Person(Locale(locale), seed=_SEED), Address(Locale(locale), seed=_SEED)
    sexes = Gender.FEMALE, Gender.MALE
    women, men = (_drawn(lambda one=one: person.first_name(one), _FIRST) for one in sexes)
    hers, his = (_drawn(lambda one=one: person.last_name(one), _LAST) for one in sexes)
    cities, streets = _drawn(address.city, _PLACES), _drawn(address.address, _PLACES)
    return NamePool((women, men), (hers, his), cities, streets, _drawn(address.postal_code, _PLACES))


def _drawn(draw: Callable[[], str], wanted: int) -> tuple[str, ...]:
    """Return distinct values: as many as wanted, or fewer if the library has fewer."""
    found: dict[str, None] = {}
    for _ in range(wanted * _TRIES):
        found[draw()] = None
        if len(found) == wanted:
            break
    return tuple(found)
