"""The words that generated records are made of: names, places, things and phrases of a fictional world."""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.strip().split(";"))


COMPANY_STEMS = _lines(
    "Alderbrook; Amberlane; Arcwell; Aspenfield; Bluequay; Brightmoor; Bronzegate; Cedarpoint; Clearwater;"
    "Copperhill; Corvane; Crestline; Daymark; Deltaworks; Eastgate; Elmstead; Everholt; Fairlight; Fernhill;"
    "Flintrock; Foxglove; Glasshouse; Goldcrest; Granitebay; Greenholm; Harborview; Hazelwood; Highmark;"
    "Ironvale; Juniper; Kestrel; Kingsway; Lakeshore; Larkfield; Lighthouse; Longmeadow; Maplestone;"
    "Meridian; Millbrook; Moonrise; Northwind; Oakhurst; Orchard; Pinecrest; Quarrystone; Redfern; Ridgeway;"
    "Riverbend; Rosefield; Sandpiper; Silverton; Skylark; Southbank; Springfield; Stonebridge; Summit;"
    "Thornbury; Tidewater; Valebrook; Waypoint; Westerly; Wildbrook; Windmill; Yarrow"
)
CITIES = _lines(
    "Amsterdam,NL,Netherlands; Antwerp,BE,Belgium; Athens,GR,Greece; Barcelona,ES,Spain; Bergen,NO,Norway;"
    "Berlin,DE,Germany; Bologna,IT,Italy; Boston,US,United States; Brno,CZ,Czechia; Chicago,US,United States;"
    "Cork,IE,Ireland; Denver,US,United States; Dublin,IE,Ireland; Edinburgh,GB,United Kingdom;"
    "Ghent,BE,Belgium; Graz,AT,Austria; Hamburg,DE,Germany; Helsinki,FI,Finland; Krakow,PL,Poland;"
    "Leeds,GB,United Kingdom; Leiden,NL,Netherlands; Lisbon,PT,Portugal; Lyon,FR,France; Malmo,SE,Sweden;"
    "Milan,IT,Italy; Montreal,CA,Canada; Munich,DE,Germany; Nantes,FR,France; Osaka,JP,Japan;"
    "Porto,PT,Portugal; Riga,LV,Latvia; Rotterdam,NL,Netherlands; Seattle,US,United States;"
    "Sydney,AU,Australia; Tallinn,EE,Estonia; Toronto,CA,Canada; Turin,IT,Italy; Utrecht,NL,Netherlands;"
    "Vienna,AT,Austria; Zurich,CH,Switzerland"
)
JOB_TITLES = _lines(
    "Account manager; Buyer; Chief financial officer; Chief technology officer; Customer success manager;"
    "Data analyst; Finance director; Founder; Head of logistics; Head of operations; Head of purchasing; HR "
    "manager; IT manager; Managing director; Marketing manager; Office manager; Operations lead; Plant "
    "manager; Procurement specialist; Product manager; Project manager; Quality engineer; Sales director;"
    "Software engineer; Store manager; Team lead"
)
INDUSTRIES = _lines(
    "retail; wholesale; manufacturing; logistics; hospitality; construction; healthcare; education; software;finance"
)
DEPARTMENTS = _lines("Sales; Marketing; Finance; Operations; Engineering; Support; Purchasing; Human resources")
TAGS = _lines(
    "archive; backend; billing; customer; design; draft; field; follow-up; important; internal; newsletter;"
    "onboarding; partner; priority; q1; q2; q3; q4; review; seasonal; spring; urgent; vip; wholesale"
)
CURRENCIES = ("EUR", "USD", "GBP")
LANGUAGES = ("en", "nl", "de", "fr", "es")
TIME_ZONES = ("Europe/Amsterdam", "Europe/Berlin", "Europe/London", "America/New_York", "Asia/Tokyo")
FILE_ENDINGS = ("pdf", "txt", "csv", "docx", "png", "md", "xlsx")
MAIL_HOSTS = ("postbox.example", "mailhub.example", "inbox.example", "webmail.example")
PRODUCT_MARKS = ("S", "M", "L", "XL", "2-pack", "500", "Mk II", "black", "blue", "green", "grey", "red")
STATUSES = _lines("active; pending; completed; open; closed")
PRIORITIES = _lines("low; medium; high")
COLORS = _lines("red; blue; green; black; white; grey; yellow; orange; purple; brown")
PRODUCT_STYLES = _lines(
    "Alpine; Basic; City; Classic; Compact; Everyday; Foldable; Heavy-duty; Light; Nordic; Pocket; Pro; Studio; Trail"
)
EMOJI = _lines("👍; 🎉; ❤️; 🚀; 👀; ✅; 😄")
METHODS = _lines("card; bank transfer; invoice; cash; direct debit")
UNITS = _lines("piece; box; kg; m; set; hour")
SOURCES = _lines("website; referral; trade fair; e-mail; phone; partner")
