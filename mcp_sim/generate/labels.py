"""Typical words and codes of text fields whose whole name is known, such as `blood_type`.

A line of the table holds a pattern of field names and the possible values. In a value, `~` is a digit from 1 to 9, `#`
any digit, `@` a letter, `CC` the country code and `{year}` the year in which the record was created. A pattern that
starts with `noun:` holds for records of that kind only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TABLE = """
blood_(type|group) | A+; O+; B+; AB+; O-; A-; B-
(.*_)?allerg(y|ies) | penicillin; peanuts; pollen; latex; shellfish; ibuprofen; lactose
(patient|diagnosis|visit|encounter|case|medical.*):conditions? | hypertension; type 2 diabetes; asthma; migraine
(product|item|listing|vehicle|car|article|book|copy):condition | new; like new; good; fair; refurbished
(.*_)?(diagnos[ei]s|symptoms?|complaint) | hypertension; type 2 diabetes; asthma; migraine; back pain; \
seasonal allergy; bronchitis; sprained ankle; anaemia
weather:conditions? | sunny; cloudy; light rain; overcast; showers; clear
forecast:conditions? | sunny; cloudy; light rain; overcast; showers; clear
(.*_)?(special(ty|ties|ity|ities|isation|ization)) | cardiology; paediatrics; orthopaedics; dermatology; neurology; \
general medicine; radiology; oncology
(.*_)?(medication|medicine|drug)s?(_name)? | Amoxicillin; Ibuprofen; Metformin; Lisinopril; Omeprazole; Salbutamol; \
Paracetamol; Atorvastatin; Cetirizine
(.*_)?(dosage|dose|strength) | 5 mg; 10 mg; 20 mg; 250 mg; 500 mg; 1 tablet; 2 tablets
prescription:frequency | once a day; twice a day; three times a day; every 8 hours; before meals
medication:frequency | once a day; twice a day; three times a day; every 8 hours; before meals
health.*(appointment|visit|encounter|admission|consultation):(visit_)?reason(_for_visit)? | annual check-up; \
back pain; follow-up; vaccination; persistent cough; blood test; headache
(.*_)?(frequency|recurrence|interval|billing_cycle) | daily; weekly; monthly; yearly
reference_range | 3.5-5.1; 0-40; 12-16; 70-99; 4.0-11.0
lab.*:unit | mmol/L; mg/dL; g/dL; U/L; %
seat(_no|_number)? | ~A; ~C; 1#B; 2#D; 3#F
gate(_no|_number)? | A~; B~#; C~; D~#
(.*_)?terminal | 1; 2; 3
(.*_)?room(_no|_number)? | ~0~; ~1~; ~2#
(.*_)?(building|wing|block) | Main building; North wing; East wing; Annex; Building B; Building C
(.*_)?(bin|shelf|aisle|rack|slot)(_code|_location)? | A-0~-0~; B-0~-1#; C-1#-0~; D-0~-0~
(storage_|picking_|warehouse_|loading_)?zone(_code)? | A; B; C; D; cold store
(pnr|record_locator|confirmation_(code|number)|booking_(code|reference|ref)|reservation_code) | @~@@#@; @@#@@~
flight(_no|_number)? | @@~##; @@~#; @@~###
(.*_)?passport(_no|_number)? | @#######; @@######
(.*_)?(licen[cs]e_plate|plate|number_plate)(_no|_number)? | @@-@@ ~##; @-@@ ~###
aircraft:(registration|tail_number) | @-@@@@
tail_number | @-@@@@
vin | W@@ZZZ~@Z@W######; @@~@@##@#@#######
(.*_)?iban | CC## ~### #### #### #### ##
(.*_)?(bic|swift)(_code)? | @@@@CC##; @@@@CC2@
(.*_)?routing_number|sort_code | ##-##-##
(credit_|debit_)?card_number|pan | 4~## #### #### ####; 5~## #### #### ####
(.*_)?(last_?4|last_?four)(_digits)? | ####
cvv|cvc|security_code | ###
(.*_)?(house|street)_(no|number) | ~; ~#; ~##; ~#a
(.*_)?(tax|vat)_(id|no|number|code)|vat|tin | CC#########
cpf | ###.###.###-##
cnpj | ##.###.###/0001-##
ssn|social_security_number | ###-##-####
(.*_)?(tracking|waybill|awb|consignment)(_no|_number|_code|_id)? | @@#########CC; 1Z@@##########
(shipping|delivery)_(method|option|speed)|service_level | standard; express; economy; overnight; pick-up
(tag|account|bank_account|loyalty|frequent_flyer|membership|insurance|policy|licen[cs]e|member|customer|client|\
student|employee|badge|staff|patient|medical_record|record)_(no|number)|mrn | ~########
(lot|batch)(_no|_number|_code)? | L####-##
(.*_)?(symbol|ticker) | @@@; @@@@
(.*_)?exchange | NYSE; NASDAQ; LSE; XETRA; Euronext; TSE
(.*_)?iata(_code)? | @@@
(.*_)?(os|operating_system|platform_os) | Ubuntu 24.04; Debian 12; Windows Server 2022; Rocky Linux 9; macOS 15
(server|instance|cluster|node|bucket|database|deployment|vm|host|volume|function):region | eu-west-1; us-east-1; \
eu-central-1; us-west-2; ap-southeast-1
(.*_)?(region|territory) | North; South; East; West; Central
(server|instance|cluster|node|vm|deployment|service|container|database|pod):(status|state) | running; running; \
running; stopped; starting
(device|sensor|camera|meter|printer):(status|state) | online; online; online; offline
(baggage|parcel|shipment|package|delivery):(status|state) | in transit; delivered; delivered; ready for pick-up; delayed
(subscription|membership|policy|licen[cs]e|contract):(status|state) | active; active; active; expired; cancelled
status_(text|message) | In a meeting; Working from home; On holiday; At lunch; Back on Monday; On the road
uptime | ~# days; ~## days; ~ days
(.*_)?(environment|env) | production; staging; development
browser | Chrome; Firefox; Safari; Edge
(.*_)?fuel(_type)? | petrol; diesel; electric; hybrid
(vehicle|car|truck):(make|brand|manufacturer) | Volvo; Toyota; Ford; Volkswagen; Renault; Hyundai; Honda
aircraft:(make|brand|manufacturer) | Airbus; Boeing; Embraer; ATR
aircraft:(model|type|aircraft_type) | A320neo; A350-900; 737-800; 787-9; E195-E2; ATR 72-600
(.*_)?model(_no|_number|_name)? | @@-~00; @~00; @@~## Plus; @~0
transmission | automatic; manual
(.*_)?cuisine(_type)? | Italian; Japanese; Mexican; Indian; French; Greek; Thai; Lebanese
(.*_)?(difficulty|skill_level|experience_level) | easy; medium; hard
(.*_)?ingredients? | 2 eggs; 200 g flour; 1 onion; 2 tbsp olive oil; 400 g tomatoes; 1 pinch of salt; 100 ml cream; \
2 cloves of garlic; 250 g pasta; 1 lemon
(.*_)?(dietary.*|diets?) | vegetarian; vegan; gluten-free; none
(class|course|teacher|lesson|exam|tutor|book|textbook|quiz):subjects? | Mathematics; Physics; Chemistry; Biology; \
History; Geography; English; Art; Music; Physical education
(.*_)?(semester|term|academic_term) | Spring {year}; Autumn {year}
(academic|school)_year | {year}
(class|course|lesson|clinic|club):schedule | Mon and Wed 10:00-11:30; Tue and Thu 14:00-15:30; Fri 9:00-12:00; \
Mon 16:00-18:00; Sat 10:00-12:00
(.*_)?(schedule|opening_hours|business_hours|hours) | Mon-Fri 9:00-17:00; Mon-Sat 10:00-18:00; daily 8:00-20:00
(.*_)?cron(_expression)? | 0 9 * * 1; 0 2 * * *; */15 * * * *; 30 6 * * 1-5
(letter|letter_grade|final_grade|grade) | A; A-; B+; B; B-; C+; C; D
(.*_)?shift | morning; late; night
listing_type|offer_type | for sale; for rent
property_type|home_type | house; apartment; terraced house; studio
(.*_)?(membership|subscription|plan|account|customer|user|pricing)_(type|tier|level|plan)|plan|tier | basic; standard; \
premium
card_type | Visa; Mastercard; Amex
card:(brand|network|scheme) | Visa; Mastercard; Amex
(ticket|case|conversation|interaction|lead|order|booking|request|survey|feedback):channel | email; phone; chat; \
web form
(repository|repo|snippet|gist):(primary_)?language | Python; TypeScript; Go; Java; Rust; Ruby; Shell
(.*_)?programming_language | Python; TypeScript; Go; Java; Rust; Ruby
default_branch | main; main; main; develop
(repository|repo|package|library):licen[cs]e | MIT; Apache-2.0; BSD-3-Clause; GPL-3.0
(.*_)?(mime_?type|content_type|media_type) | application/pdf; image/png; text/plain; text/csv; image/jpeg
(.*_)?(file_type|file_format|extension|format) | pdf; csv; docx; png; txt; xlsx
(.*_)?encoding|charset | utf-8
(request|endpoint|route|webhook|call):method | GET; POST; PUT; DELETE
(.*_)?(http_method|request_method) | GET; POST; PUT; DELETE
(log|log_entry|logs):(log_)?(level|severity) | info; info; info; warning; error; debug
(log|log_entry|alert|incident|metric|trace|span|event):(service|component|source|logger|module) | api; web; worker; \
billing; auth; search
(.*_)?protocol | https; tcp; udp; ssh
(.*_)?(error|error_message|failure_reason|last_error) | Connection timed out; Permission denied; Disk quota exceeded; \
Invalid credentials; Service unavailable
wind_direction | N; NE; E; SE; S; SW; W; NW
marital_status | single; married; divorced; widowed
(.*_)?relation(ship)?(_type)? | spouse; parent; sibling; friend; colleague
(.*_)?(degree|education|qualification)s? | BSc Biology; BA History; MSc Computer science; MBA; Diploma in nursing; \
BEng Mechanical engineering
(.*_)?skills? | Excel; Python; project management; negotiation; first aid; bookkeeping; welding; SQL; public speaking
(.*_)?(hobby|hobbies|interests?) | cooking; hiking; photography; reading; cycling; music; travel
(.*_)?material | cotton; steel; oak; aluminium; glass; recycled plastic; wool
(product|item|variant|garment|article|sku):size | S; M; L; XL
(.*_)?sentiment | positive; neutral; negative
(.*_)?(severity|risk|impact)(_level)? | low; medium; high
(movie|film|series):genres? | drama; comedy; thriller; documentary; animation; science fiction
(book|novel|author):genres? | crime; history; fantasy; biography; poetry; science; children's books; travel
(song|album|artist|track|band|playlist):genres? | indie; jazz; classical; electronic; folk; hip-hop; rock
(game):genres? | puzzle; strategy; adventure; racing; role-playing
(.*_)?(venue|stadium|arena) | City Hall; Riverside Arena; Old Mill; Grand Theatre; Harbour Stage; North Stadium
(home_|away_|opposing_)?(team|opponent)(_name)? | City Rovers; Harbour United; North End; Riverside Athletic; \
Old Town FC; Valley Rangers
(.*_)?(question|faq|query_text) | How do I change my address?; When will my order arrive?; Which plan is right \
for me?; Can I cancel at any time?; How do I reset my password?
(.*_)?(device|device_type|device_model) | laptop; phone; tablet; desktop; kiosk
(.*_)?(event|activity|action|operation)_(type|name) | created; updated; deleted; viewed; exported
(audit|audit_log|log|log_entry|history):(action|operation|event) | created; updated; deleted; viewed; exported
(document|file|attachment):(type|kind|category) | contract; invoice; report; letter; form
(account|transaction|payment|event|task|note|message|activity|notification|contact|user|customer|member|employee|\
policy|plan|report|job|rule|alert|field):(type|kind|category) | standard; basic; internal; external; custom
(.*_)type | standard; basic; special; custom
"""


class Label(NamedTuple):
    """The possible values of fields whose name, and whose kind of record, match."""

    nouns: re.Pattern[str] | None
    names: re.Pattern[str]
    options: tuple[str, ...]


def _label(line: str) -> Label:
    names, _, options = (part.strip() for part in line.rpartition(" | "))
    noun, colon, name = names.partition(":")
    nouns = re.compile(f"(.*_)?(?:{noun})") if colon else None
    return Label(nouns, re.compile(name if colon else names), tuple(part.strip() for part in options.split(";")))


_LABELS = tuple(_label(line) for line in _TABLE.replace("\\\n", "").strip().splitlines())


@lru_cache(maxsize=4096)
def labels(noun: str, name: str) -> tuple[str, ...]:
    """Return the possible values of a field of such a record, () if none are known."""
    for label in _LABELS:
        if label.names.fullmatch(name) and (label.nouns is None or label.nouns.fullmatch(noun)):
            return label.options
    return ()
