"""What people in the team chat say: the channels, people and talks of a company that builds tide gauges."""

TEAM = "T04TIDEWTR1"
BOT = {"name": "helper", "real_name": "Helper"}
PEOPLE = [
    ("marit", "Marit Haugen", "Head of operations"), ("deniz", "Deniz Aksoy", "Platform engineer"),
    ("oluchi", "Oluchi Nwosu", "Product manager"), ("pavel", "Pavel Novák", "Firmware engineer"),
    ("ines", "Inês Duarte", "Customer support"), ("ravi", "Ravi Menon", "Data engineer"),
    ("lotte", "Lotte de Wit", "Finance"), ("haruka", "Haruka Sato", "Field technician"),
    ("emil", "Emil Lindgren", "Sales"), ("chloe", "Chloé Martin", "Designer"),
]  # fmt: skip
CHANNELS = [
    ("general", "Company-wide news", "For news that everyone should read.", {}),
    ("random", "Lunch, pets, weather", "Everything else.", {}),
    ("operations", "On call: see the rota", "What runs, what fails, what is planned.", {}),
    ("releases", "Fridays are for reading", "Which version goes out when.", {}),
    ("support", "Be kind, be quick", "Questions of customers.", {}),
    ("gauges", "Firmware 7.x", "The gauges and their firmware.", {}),
    ("finance", "Invoices by the 25th", "Budgets and invoices.", {"is_member": False}),
    ("project-estuary", "Finished in spring", "The pilot in the estuary.", {"is_archived": True}),
    ("leads", "", "For leads.", {"is_private": True, "is_member": False}),
]
TALKS = [
    ("general", ["The new office key cards are at the front desk. Please fetch yours before Friday."]),
    ("general", ["Welcome our two interns! They start on Monday.", "Welcome!", "Looking forward to it :wave:"]),
    ("random", ["Who is in for soup at noon?", "Me!", "Me too, twelve sharp."]),
    ("random", ["My cat sits on the router again. If I drop out of the call, that is why."]),
    ("operations", ["Disk of the ingest host is at 91 %.", "Looking.", "Old logs. Rotated, it is at 54 % now."]),
    ("operations", ["Gauge # has sent nothing since six.", "@ is near there today.", "Cable was loose. It reports."]),
    ("operations", ["Planned: database upgrade on Thursday, 7:00. Five minutes of read-only mode."]),
    ("operations", ["Alarm for queue length, again.", "It is the nightly import. I raise the threshold."]),
    ("releases", ["Release candidate is on staging. Please test what you wrote.", "Maps work.", "Exports, too."]),
    ("releases", ["Hotfix for the login page is out.", "Confirmed, thank you @."]),
    ("support", ["Ticket #: a harbour sees two heights for one gauge.", "Time zones. I write to them."]),
    ("support", ["Ticket #: they want last year as CSV.", "The export takes a year at once since March, @."]),
    ("support", ["Three customers ask for an app. Shall I collect these?", "Yes please, in the product board."]),
    (
        "gauges",
        ["Firmware 7.3 drains the battery faster when it is cold.", "How cold?", "Below -8 °C.", "I can see it."],
    ),
    ("gauges", ["Gauge # needs a new antenna.", "I have two in the van."]),
]
