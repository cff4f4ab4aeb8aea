"""Word lists for generated values: company names, cities, products, tags, and names of things by kind."""

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


_WORKS = (
    "The Silent Harbour; A House in Winter; The Last Ferry; Letters from the Coast; The Glass Orchard; Northern "
    "Lights; The Clockmaker's Daughter; Salt and Stone; Under the Linden Trees; The Long Way Home; A Map of Small "
    "Things; The Paper Garden; Night Train South; The Lighthouse Keeper; What the River Said; A Season of Rain; The "
    "Blue Door; Seven Bridges; The Quiet Valley; Before the Thaw; The Cartographer; An Unfinished Song; The Weight "
    "of Snow; Summer at the Mill; The Other Shore; Borrowed Light; The Beekeeper's Year; Stones in the Orchard; "
    "Late Arrivals; The Sound of Wheels; A Room with Maps; The Apple Thief; Harbour Street; The Winter Market; Two "
    "Left Shoes"
)

_TABLE = (
    """
ward | Cardiology; Surgery; Intensive care; Maternity; Paediatrics; Oncology; Neurology; Emergency; Orthopaedics; \
Geriatrics; Urology; Dermatology; Radiology; Psychiatry
airport | {city} Airport; {city} International Airport
station | {city} Central; {city} North; {city} East
aircraft plane | A320neo; A350-900; 737-800; 787-9; E195-E2; ATR 72-600
playlist | Morning run; Sunday coffee; Focus; Road trip; Dinner party; Rainy day; Throwback; Deep sleep; Garden party
podcast show | The {stem} Show; {stem} Weekly; Talking {stem}; Inside {stem}; The {stem} Hour
band | The {stem}s; {stem} Road; The Late {stem}
dish recipe meal menu_item | Lentil soup; Mushroom risotto; Roast chicken; Greek salad; Pumpkin curry; Fish pie; \
Tomato tart; Beef stew; Apple crumble; Vegetable lasagne; Pea and mint soup; Shakshuka; Potato gratin; Chickpea stew; \
Lemon cake; Ratatouille; Spinach quiche; Salmon with dill; Rice pudding; Onion soup
course class subject lesson | Algebra I; Modern history; Introduction to biology; Creative writing; Organic chemistry; \
World geography; Statistics; Art and design; Physics II; Spanish for beginners; Computer science; Economics; \
Music theory; Philosophy; Drama; Environmental studies; French literature; Geometry
classroom room meeting_room | Room 10~; Room 11#; Room 20~; Room 21#; Room 30~; Lab ~; Hall ~
assignment homework | Essay on the water cycle; Chapter 4 exercises; Group presentation; Lab report; Reading log; \
Map of trade routes; Problem set 3; Book review; Short story; Poster on climate; Vocabulary list; Final project; \
Problem set 5; Interview with a neighbour; Timeline of the century; Chapter 7 exercises
exam quiz | Midterm exam; Final exam; Chapter 2 quiz; Vocabulary quiz; Entrance test; Oral exam; Practical exam
test lab_test | Haemoglobin; Glucose; Cholesterol; Creatinine; TSH; Vitamin D; Potassium; Sodium; Platelets; Ferritin
device thermostat | Hallway thermostat; Kitchen light; Front door lock; Garage sensor; Office camera; Bedroom lamp; \
Garden pump; Attic fan; Cellar heater; Living room speaker; Porch light; Water meter
sensor meter camera | Sensor A~; Sensor B~; Sensor C~#; Sensor D~#
server instance vm node host machine | web-0~; web-1#; db-0~; worker-0~; worker-1#; cache-0~; build-0~
cluster | prod-eu; prod-us; staging; dev; batch; edge-~
database schema | orders; customers; billing; analytics; inventory; sessions; audit; reporting; catalogue
container service microservice function lambda | api; web; billing; auth; search; mailer; worker; gateway; scheduler; \
notifications; reports; imports
workflow automation pipeline job script cron | Nightly backup; Contact sync; Weekly report; Invoice run; Deploy to \
staging; Clean up drafts; Stock import; Price update; Newsletter; Log rotation; Data export; Health check
plan tier subscription membership package | Basic; Standard; Plus; Premium; Business; Enterprise; Starter; Family
role | Administrator; Editor; Viewer; Manager; Support; Billing
permission scope | read; write; delete; invite; export; manage billing
skill | Excel; Python; Negotiation; First aid; Bookkeeping; Welding; SQL; Public speaking; Photography; Project planning
medication drug medicine vaccine | Amoxicillin; Ibuprofen; Metformin; Lisinopril; Omeprazole; Salbutamol; Paracetamol; \
Atorvastatin; Cetirizine; Levothyroxine
condition diagnosis disease symptom allergy | Hypertension; Type 2 diabetes; Asthma; Migraine; Back pain; Hay fever; \
Bronchitis; Sprained ankle; Anaemia; Eczema
procedure treatment therapy | Blood test; X-ray; Physiotherapy; Vaccination; Dental cleaning; Eye test; Ultrasound; \
Hearing test; MRI; Check-up
pet animal dog cat horse | Bella; Max; Luna; Rocky; Milo; Coco; Oscar; Daisy; Charlie; Ruby; Simba; Nala; Rex; Molly
plant flower | Monstera; Snake plant; Basil; Lavender; Peace lily; Aloe vera; Rosemary; Ficus; Tulip; Orchid
ship vessel boat | MS {stem}; MV {stem}
club league tournament competition | {city} United; {city} Athletic; {stem} Cup; {city} Rowing Club; {stem} League
museum gallery exhibition park venue stadium theatre arena attraction | {city} City Park; {stem} Gallery; {city} \
Museum; {stem} Theatre; {city} Arena; {stem} Gardens
building campus | {stem} House; {stem} Tower; {city} Campus; {stem} Hall
trail route | {stem} Ridge; {stem} Loop; {city} to {city}; {stem} Coast Path
property listing apartment house flat | Bright flat in {city}; House with garden in {city}; Studio near {city} \
station; Family home in {city}; Loft in {city}; Terraced house in {city}; Two-bedroom flat in {city}
segment audience list ad_group ad_set | Spring buyers; Newsletter readers; New customers; Lapsed customers; VIPs; \
Trial users; Trade fair leads; Website visitors
template layout theme | Order confirmation; Welcome e-mail; Invoice; Monthly report; Reminder; Offer; Password \
reset; Thank-you note; Minutes; Delivery note
survey form questionnaire poll | Customer satisfaction; Event feedback; Product survey; Exit interview; Job \
application; Contact form; Registration; Course evaluation
goal objective habit target | Run three times a week; Reduce response time; Grow the newsletter; Read more; \
Save for a holiday; Win ten new customers; Learn Spanish; Cut shipping costs
webhook integration key token api_key credential secret | Production; Staging; CI pipeline; Mobile app; Reporting; \
Partner access; Local development; Backup job
dataset model experiment | customer-churn; sales-2028; product-images; sensor-logs; reviews-en; demand-forecast; \
fraud-detection; support-tickets
dashboard chart metric query widget | Monthly revenue; Open orders; New customers; Response time; Stock levels; \
Conversion rate; Active users; Returns by month; Support load
alert monitor alarm | CPU above 90 %; Disk almost full; Checkout errors; Slow responses; Certificate \
expires; Queue too long
policy | Travel; Remote work; Data protection; Expenses; Security; Returns; Code of conduct
team_name | {city} Rovers; {city} United; {stem} Athletic; {stem} Rangers
brand | {stem}
portfolio fund | Growth; Income; Balanced; Pension; Global equity; Green energy; Short-term bonds
wallet | Main wallet; Savings; Travel; Trading; Cold storage
zone region territory area district | North; South; East; West; Centre; Old Town; Harbour
shelf bin rack aisle slot | A-0~; B-0~; C-0~; D-1#
character hero enemy | {stem} the Bold; {stem} the Wise; Old {stem}; {stem} of the North
level world map quest mission | The {stem} Caves; {stem} Keep; Road to {stem}; The Fall of {stem}; {stem} Forest
"""
    f"book novel movie film album song track game story poem series episode video artwork painting play | {_WORKS}"
)


def _things() -> dict[str, tuple[str, ...]]:
    lines = (line.partition(" | ") for line in _TABLE.replace("\\\n", "").strip().splitlines())
    pairs = ((nouns.split(), tuple(part.strip() for part in named.split(";"))) for nouns, _, named in lines)
    return {noun: names for nouns, names in pairs for noun in nouns}


THINGS = _things()
"""Names of things, by noun.

In a name, `{city}` and `{stem}` are slots for a city and a proper name, `~` is a digit from 1 to 9, `#` any digit.
"""

PARTS = ("main", "regular", "standard", "special", "common", "basic", "usual", "general")
"""Adjectives for values of unknown fields: `Standard finish`."""
