"""The words that generated records are made of: names, places, things and phrases of a fictional world."""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.strip().split(";"))


FIRST_NAMES = _lines(
    "Ada; Adil; Agnes; Aiko; Alba; Amara; Amir; Anouk; Anton; Arda; Astrid; Bao; Beatriz; Bilal; Bram;"
    "Camila; Carlo; Chidi; Clara; Daan; Dalia; Daria; Deniz; Dewi; Diego; Edda; Elif; Elena; Emeka; Emil;"
    "Esra; Fatima; Femke; Filip; Freya; Gabriel; Giulia; Hana; Hassan; Helga; Hugo; Ida; Ines; Irena; Isa;"
    "Ivo; Jana; Jonas; Joris; Kaito; Kasia; Kofi; Laila; Lars; Lena; Leo; Linh; Lotte; Luca; Maren; Marta;"
    "Mateo; Mei; Milan; Mina; Nadia; Nils; Noor; Olga; Omar; Otto; Paula; Pavel; Petra; Priya; Rafael; Rana;"
    "Renske; Rosa; Ruben; Samira; Sanne; Sofia; Stefan; Sunil; Sven; Tamar; Tariq; Teun; Thea; Tomas; Ulla;"
    "Vera; Viktor; Wanda; Yara; Youssef; Yuki; Zofia; Zoran"
)
LAST_NAMES = _lines(
    "Aalders; Abebe; Acosta; Albers; Almeida; Andersen; Bakker; Banerjee; Baptista; Becker; Bianchi; Blom;"
    "Brandt; Castillo; Chen; Costa; Dahl; Demir; Diallo; Dubois; Eriksen; Estrada; Farah; Fischer; Fontaine;"
    "Garcia; Gruber; Haddad; Hansen; Hoekstra; Horvat; Ibrahim; Ito; Jansen; Johansson; Kamara; Keller; Kim;"
    "Kowalski; Kruger; Lambert; Larsen; Leclerc; Lindgren; Lopez; Maier; Marino; Mbeki; Meijer; Mendes;"
    "Molnar; Moreau; Mulder; Nair; Ndiaye; Nguyen; Novak; Okafor; Olsen; Ortiz; Osei; Park; Patel; Pereira;"
    "Petrov; Popescu; Prins; Quist; Rahman; Ramos; Reyes; Ricci; Romano; Rossi; Sato; Schmidt; Serrano;"
    "Silva; Singh; Smit; Sorensen; Steiner; Suzuki; Takahashi; Tanaka; Torres; Ueda; Vargas; Vasquez; Visser;"
    "Vogel; Vos; Wagner; Weber; Wolff; Yamada; Yilmaz; Zamora; Zeman"
)
COMPANY_STEMS = _lines(
    "Alderbrook; Amberlane; Arcwell; Aspenfield; Bluequay; Brightmoor; Bronzegate; Cedarpoint; Clearwater;"
    "Copperhill; Corvane; Crestline; Daymark; Deltaworks; Eastgate; Elmstead; Everholt; Fairlight; Fernhill;"
    "Flintrock; Foxglove; Glasshouse; Goldcrest; Granitebay; Greenholm; Harborview; Hazelwood; Highmark;"
    "Ironvale; Juniper; Kestrel; Kingsway; Lakeshore; Larkfield; Lighthouse; Longmeadow; Maplestone;"
    "Meridian; Millbrook; Moonrise; Northwind; Oakhurst; Orchard; Pinecrest; Quarrystone; Redfern; Ridgeway;"
    "Riverbend; Rosefield; Sandpiper; Silverton; Skylark; Southbank; Springfield; Stonebridge; Summit;"
    "Thornbury; Tidewater; Valebrook; Waypoint; Westerly; Wildbrook; Windmill; Yarrow"
)
COMPANY_FORMS = _lines(
    "Trading; Logistics; Systems; Partners; Works; Supply; Foods; Labs; Services; Group; Design; Tools;Energy; Media"
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
STREETS = _lines(
    "Acacia Street; Bridge Street; Canal Row; Castle Lane; Church Street; Dock Road; Elm Avenue; Forge Lane;"
    "Garden Street; Harbour Road; High Street; King Street; Lime Walk; Market Square; Mill Road; North Quay;"
    "Orchard Way; Park Avenue; Queen Street; River Road; School Lane; Station Road; Tower Hill; Windmill "
    "Lane"
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
CATEGORIES = _lines("general; standard; internal; external; premium; basic; seasonal; regional")
STATUSES = _lines("active; pending; completed; open; closed")
PRIORITIES = _lines("low; medium; high")
COLORS = _lines("red; blue; green; black; white; grey; yellow; orange; purple; brown")
PRODUCT_KINDS = _lines(
    "Bottle; Cable; Chain; Desk lamp; Gloves; Helmet; Jacket; Keyboard; Lock; Mug; Notebook; Pump; Rack;"
    "Saddle; Scarf; Speaker; Tent; Tool kit; Torch; Tyre; Umbrella; Wallet"
)
PRODUCT_STYLES = _lines(
    "Alpine; Basic; City; Classic; Compact; Everyday; Foldable; Heavy-duty; Light; Nordic; Pocket; Pro;Studio; Trail"
)
ACTIONS = _lines(
    "Call back about; Check; Compare offers for; Discuss; Draft; Finish; Follow up on; Negotiate; Order;"
    "Plan; Prepare; Present; Renew; Review; Revise; Schedule; Send; Sign off; Update; Verify"
)
MATTERS = _lines(
    "the annual contract; the autumn campaign; the budget; the catalogue; the delivery schedule; the "
    "framework agreement; the inventory count; the invoice; the launch plan; the maintenance plan; the new "
    "price list; the onboarding steps; the pilot project; the product samples; the quarterly report; the "
    "quotation; the renewal terms; the return policy; the service level; the shipping rates; the spring "
    "order; the supplier audit; the training session; the website copy"
)
SENTENCES = _lines(
    "Asked for a written summary by the end of the week.; Costs are within the agreed budget.; Delivery is "
    "planned for next month.; Everyone involved has been informed.; Has been a reliable partner for years.;"
    "Needs another look once the figures are in.; No open questions at the moment.; Prefers to be reached by "
    "e-mail.; Reacted well to the first proposal.; Some details are still to be settled.; The first results "
    "look promising.; The team agreed on the next steps.; There was a delay on the supplier's side.; To be "
    "continued after the holidays.; Wants to see a sample before deciding.; Will come back to this next "
    "quarter."
)
CURRENCIES = ("EUR", "USD", "GBP")
LANGUAGES = ("en", "nl", "de", "fr", "es")
TIME_ZONES = ("Europe/Amsterdam", "Europe/Berlin", "Europe/London", "America/New_York", "Asia/Tokyo")
FILE_ENDINGS = ("pdf", "txt", "csv", "docx", "png")
