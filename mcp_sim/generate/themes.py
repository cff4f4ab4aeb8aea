"""Word lists per trade: its goods, their categories, and what people write about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """A trade. `words` occur in descriptions of it (singular, lower case); `goods` are in the singular.

    `kinds` are categories of goods. `matters` are subjects that people write about, with their article if they have
    one. `firms` are the second words of company names.
    """

    name: str
    words: frozenset[str]
    goods: tuple[str, ...]
    kinds: tuple[str, ...]
    matters: tuple[str, ...]
    firms: tuple[str, ...]


def _theme(name: str, words: str, goods: str, kinds: str, matters: str, firms: str) -> Theme:
    return Theme(name, frozenset(words.split()), _parts(goods), _parts(kinds), _parts(matters), _parts(firms))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


GENERAL = _theme(
    "general",
    "",
    "bottle; cable; desk lamp; pair of gloves; helmet; jacket; keyboard; padlock; mug; notebook; pump; "
    "rack; scarf; speaker; tent; tool kit; torch; umbrella; wallet; backpack; chair; whiteboard; headset; "
    "monitor stand",
    "general; standard; office; outdoor; home; seasonal; accessories",
    "the annual contract; the autumn campaign; the budget; the catalogue; the delivery schedule; the "
    "framework agreement; the inventory count; the launch plan; the maintenance plan; the new price list; "
    "the onboarding steps; the pilot project; the product samples; the quarterly report; the renewal terms;"
    " the return policy; the service level; the shipping rates; the supplier audit; the training session; "
    "the website copy; the insurance claim; the office move; the customer survey; the hiring plan; the "
    "security review; the travel policy; the trade fair",
    "Trading; Logistics; Systems; Works; Supply; Services; Design; Tools; Energy; Media; Consulting; Solutions",
)
THEMES = (
    _theme(
        "bikes",
        "bike bicycle cycling cyclist saddle ebike tyre fiets pedal fahrrad bicicleta vélo bicicletta 自転車",
        "touring saddle; chain; brake pad; bike pump; pannier; helmet; bell; inner tube; winter tyre; "
        "derailleur; cassette; crankset; handlebar; LED front light; frame lock; mudguard; child seat; "
        "stem; wheel set; repair stand; kickstand; water bottle cage; e-bike battery; disc rotor; pedal",
        "saddles; drivetrain; brakes; wheels; lights; locks; accessories; tools; clothing; e-bike parts",
        "the spring order; the winter tyres; the dealer price list; the e-bike batteries; the helmet "
        "recall; the Eurobike stand; the saddle samples; the workshop supplies; the wheel stock; the "
        "delivery from Taiwan; the repair training; the season catalogue; the returns of brake pads; the "
        "lock warranty; the dealer discount; the frame colours; the shipping of long parcels; the framework"
        " agreement; the stock count",
        "Cycles; Wielen; Velo; Bikes; Parts; Racing; Mobility; Fietsen; Components",
    ),
    _theme(
        "food",
        "food grocery groceries bakery restaurant supermarket catering kitchen recipe meal wine cheese farm"
        " organic coffee tea roastery cafe menu bäckerei lebensmittel restaurante padaria café boulangerie panadería"
        " ristorante bakkerij küche 食品 料理 パン",
        "bag of espresso beans; filter coffee; olive oil; sourdough loaf; goat cheese; oat milk; dark "
        "chocolate bar; apple juice; basmati rice; tomato passata; honey; granola; green tea; sea salt; "
        "smoked salmon; fig jam; rye bread; butter croissant; lemonade; red lentils; peanut butter; pasta",
        "coffee; bakery; dairy; drinks; pantry; snacks; fresh; frozen",
        "the weekly delivery; the summer menu; the allergen list; the cold chain; the tasting; the harvest "
        "prices; the new roast; the shelf plan; the hygiene audit; the private label; the packaging change;"
        " the milk contract; the Christmas boxes; the expiry dates; the supplier visit; the catering order",
        "Foods; Bakery; Kitchen; Roasters; Farms; Delicatessen; Provisions; Catering",
    ),
    _theme(
        "fashion",
        "fashion clothing clothe apparel shoe garment textile boutique tailor jewellery jewelry mode kleidung"
        " moda roupa ropa"
        " schuhe vêtements 服",
        "wool coat; linen shirt; denim jacket; leather belt; silk scarf; running shoe; ankle boot; cotton "
        "T-shirt; summer dress; raincoat; cardigan; tote bag; beanie; pair of socks; blazer; pleated skirt;"
        " chino; sandal",
        "outerwear; shoes; accessories; knitwear; basics; denim; sale",
        "the autumn collection; the size chart; the fabric samples; the lookbook; the returns rate; the "
        "showroom visit; the care labels; the summer sale; the photo shoot; the denim supplier; the store "
        "opening; the window display",
        "Atelier; Apparel; Textiles; Wear; Fashion; Tailors; Footwear",
    ),
    _theme(
        "electronics",
        "electronic computer laptop phone gadget hardware device camera semiconductor sensor printer"
        " elektronik eletrônico"
        " eletrônicos electrónica électronique 電子 電機",
        "USB-C dock; noise-cancelling headset; 27-inch monitor; mechanical keyboard; webcam; wireless "
        "mouse; tablet; power bank; router; smart plug; SSD drive; HDMI cable; e-reader; bluetooth speaker;"
        " action camera; charger; graphics card",
        "audio; displays; networking; storage; accessories; smart home; cameras",
        "the firmware update; the battery recall; the chip shortage; the warranty terms; the product "
        "launch; the reseller prices; the certification; the spare parts; the trade-in programme; the test "
        "bench; the packaging; the RMA queue",
        "Electronics; Devices; Technologies; Audio; Circuits; Digital; Components",
    ),
    _theme(
        "software",
        "software saas app developer code repository startup api platform cloud devops engineering website 開発",
        "team plan; enterprise licence; API add-on; support package; mobile app; analytics module; single "
        "sign-on add-on; audit log add-on; storage upgrade; onboarding package; sandbox; data export",
        "subscriptions; add-ons; services; training; support",
        "the login page; the export to CSV; the billing page; the mobile app; the search index; the API "
        "rate limits; the database migration; the release notes; the onboarding flow; the dark mode; the "
        "audit log; the status page; the payment form; the password reset; the nightly backup; the "
        "dashboard; the notification e-mails; the new editor; the permissions model; the webhook retries",
        "Software; Labs; Cloud; Systems; Data; Apps; Digital; Networks",
    ),
    _theme(
        "health",
        "health clinic hospital patient doctor medical dental dentist pharmacy nurse care veterinary therapy medicine"
        " krankenhaus klinik arzt ärzte praxis apotheke clínica saúde médico hôpital clinique salud"
        " ziekenhuis ospedale"
        " 病院 医院 患者 薬",
        "blood pressure monitor; box of gloves; wheelchair; thermometer; first-aid kit; hearing aid; knee "
        "brace; pair of reading glasses; vitamin D; test strip; walking frame; face mask; stethoscope; "
        "syringe; bandage",
        "consultation; diagnostics; consumables; therapy; aids; pharmacy",
        "the lab results; the referral; the follow-up appointment; the vaccination plan; the duty roster; "
        "the consent form; the medication list; the X-ray; the discharge letter; the insurance approval; "
        "the hygiene plan; the waiting list; the physiotherapy; the annual check-up",
        "Clinic; Care; Health; Medical; Pharma; Dental; Therapy",
    ),
    _theme(
        "travel",
        "travel hotel flight airline booking trip tour tourism hostel airport passenger reservation cruise"
        " reise fluggesellschaft flughafen viagem aérea aeroporto viaje aerolínea voyage 航空 旅行 ホテル",
        "double room; city break; airport transfer; rail pass; rental car; day trip; breakfast package; "
        "extra bag; museum ticket; seat reservation; travel insurance; wine tour; boat trip; spa day",
        "rooms; flights; transfers; tours; extras; insurance",
        "the group booking; the late check-out; the flight change; the refund; the visa letters; the summer"
        " season; the room rates; the lost luggage; the breakfast times; the conference package; the "
        "airport transfer; the tour guides; the overbooking; the loyalty points",
        "Travel; Hotels; Tours; Airways; Journeys; Holidays; Resorts",
    ),
    _theme(
        "books",
        "book library bookshop bookstore publisher author reader novel publishing magazine buch bücher"
        " bibliothek bücherei buchhandlung verlag biblioteca livro livraria bibliothèque librairie libro librería"
        " bibliotheek 図書館 書店 本屋",
        "travel guide; detective novel; cookbook; picture book; poetry collection; biography; world atlas; "
        "dictionary; graphic novel; audiobook; notebook; history of the sea; field guide; short stories",
        "fiction; non-fiction; children; travel; cooking; history; poetry",
        "the spring list; the reading evening; the overdue loans; the cover design; the print run; the "
        "translation rights; the returns; the book fair; the school orders; the new shelves; the audiobook;"
        " the review copies; the catalogue",
        "Books; Press; Publishing; Library; Editions; Reading Room",
    ),
    _theme(
        "education",
        "school university student teacher course education learning training classroom academy lesson exam college"
        " schule schüler universität hochschule gymnasium lehrer escola aluno universidade professor école"
        " élève université"
        " escuela colegio alumno scuola 学校 高校 大学 学生",
        "course book; exam licence; laboratory kit; school desk; tablet case; field trip; language course; "
        "evening class; chalk box; microscope; calculator; sports kit",
        "languages; science; arts; sports; vocational; online",
        "the timetable; the exam dates; the parents' evening; the field trip; the grade reports; the new "
        "curriculum; the enrolment; the thesis outline; the lab safety; the reading list; the scholarship; "
        "the substitute teacher; the group assignment; the graduation",
        "Academy; College; Learning; School; Institute; Training",
    ),
    _theme(
        "building",
        "construction building builder hardware contractor renovation architect property tenant apartment "
        "plumbing estate garden plant nursery immobilien handwerk garten imóvel imobiliária immobilier 建設 不動産",
        "bag of cement; cordless drill; LED panel; oak floorboard; paint bucket; radiator; roof tile; door "
        "handle; insulation board; ladder; tap; wall anchor; garden hose; olive tree; lawn mower; spirit "
        "level; work boot",
        "tools; materials; heating; lighting; sanitary; garden; safety",
        "the building permit; the roof repair; the heating inspection; the site meeting; the scaffolding; "
        "the material list; the snag list; the rent review; the water damage; the lift maintenance; the "
        "kitchen renovation; the final invoice; the garden layout; the tender; the handover",
        "Construction; Build; Homes; Interiors; Properties; Tools; Gardens",
    ),
    _theme(
        "vehicles",
        "car vehicle garage automotive dealership truck fleet rental driver taxi motorcycle auto autohaus"
        " werkstatt carro"
        " oficina voiture coche 自動車",
        "set of winter tyres; brake disc; oil filter; car battery; roof box; child seat; wiper blade; tow "
        "bar; charging cable; headlight bulb; spark plug; cargo net; dash camera",
        "tyres; brakes; electrics; oils; accessories; body parts",
        "the fleet contract; the service interval; the winter check; the leasing offer; the damage report; "
        "the charging points; the test drive; the recall; the spare car; the fuel cards; the inspection "
        "date; the parking permits",
        "Motors; Automotive; Garage; Mobility; Rentals; Fleet",
    ),
    _theme(
        "finance",
        "bank finance financial insurance loan investment accounting accountant broker portfolio trading "
        "tax mortgage fund sparkasse versicherung kredit konto banco seguro conta banque assurance banca 銀行 保険",
        "savings account; home insurance; business loan; index fund; pension plan; credit card; travel "
        "insurance; car insurance; payroll service; tax return; government bond",
        "savings; loans; insurance; investments; payments; advice",
        "the annual accounts; the mortgage offer; the risk report; the tax return; the claim; the credit "
        "limit; the portfolio review; the audit; the fee schedule; the direct debits; the due diligence; "
        "the cash forecast; the pension statement",
        "Capital; Finance; Insurance; Partners; Advisory; Accountants; Trust",
    ),
    _theme(
        "logistics",
        "logistics shipping warehouse freight parcel courier delivery carrier shipment port container transport"
        " lager spedition logistik armazém logística transporte almacén entrepôt logistique magazijn 倉庫 物流",
        "pallet; shipping box; roll of tape; stretch film; parcel label; crate; container seal; hand truck;"
        " pallet jack; bubble wrap; mailing bag; strapping kit",
        "packaging; handling; labels; storage; transport",
        "the customs papers; the late shipment; the loading dock; the route plan; the damaged pallet; the "
        "night shift; the inventory count; the carrier contract; the return parcels; the container from "
        "Rotterdam; the forklift service; the delivery window; the proof of delivery",
        "Logistics; Freight; Transport; Forwarding; Cargo; Express",
    ),
    _theme(
        "music",
        "music concert song band artist album festival event theatre cinema film movie game studio playlist"
        " musik konzert música musique kino cinéma 音楽 映画",
        "festival ticket; vinyl record; concert poster; guitar string; microphone; season pass; drum kit; "
        "studio hour; programme booklet; band T-shirt; stage light",
        "tickets; merchandise; instruments; recordings; rental",
        "the line-up; the sound check; the ticket sales; the stage plan; the rehearsal; the press kit; the "
        "guest list; the licence fees; the catering backstage; the tour dates; the album cover; the sponsor"
        " logos; the box office",
        "Records; Events; Stage; Music; Productions; Studios",
    ),
    _theme(
        "sports",
        "sport gym fitness club team league athlete workout running football yoga outdoor camping hiking climbing ski",
        "yoga mat; kettlebell; running shoe; climbing rope; hiking boot; tent; sleeping bag; football; "
        "tennis racket; swim goggles; ski pole; headlamp; resistance band; camping stove",
        "fitness; running; climbing; camping; team sports; water sports",
        "the season fixtures; the club kit; the membership fees; the pitch booking; the summer camp; the "
        "training plan; the tournament; the first-aid course; the gym floor; the youth team; the sponsor "
        "contract; the trail map",
        "Sports; Fitness; Outdoor; Athletics; Adventure",
    ),
    _theme(
        "home",
        "furniture household interior home decor toy pet cosmetic beauty flower florist gift baby",
        "oak table; reading lamp; linen cushion; wool rug; bookcase; scented candle; dog bed; wooden train;"
        " hand cream; ceramic vase; bath towel; storage basket; wall clock; cat tree; duvet cover; plant "
        "pot",
        "living; bedroom; kitchen; kids; pets; decoration; bath",
        "the showroom; the delivery slots; the spring collection; the assembly guide; the wood samples; the"
        " gift boxes; the opening hours; the display window; the fabric colours; the returns; the Christmas"
        " range; the photo shoot",
        "Living; Interiors; Home; Furniture; Decor; Gifts",
    ),
)
