"""What the tables begin with: a small film festival that takes place in ten weeks, and its office."""

from datetime import timedelta


def day(number, hour=0):
    return timedelta(days=number, hours=hour)


# fmt: off
FILMS = [
    ("Salt Road", "Mariam Haddad", 2027, 96, "Selected", ["Drama"], "A driver of a salt truck takes a detour."),
    ("The Quiet Meridian", "Joost Verhage", 2028, 81, "Confirmed", ["Documentary"], "Two surveyors, one border."),
    ("Paper Kites", "Lin Meilan", 2028, 74, "Confirmed", ["Family", "Animation"], "A kite maker loses her wind."),
    ("Eleven Winters", "Oskar Lindqvist", 2026, 122, "Selected", ["Drama"], "A lighthouse and those who leave it."),
    ("Bread for the Ferry", "Ana Pereira", 2028, 88, "Confirmed", ["Comedy"], "A bakery on a boat."),
    ("Moss", "Tomoko Arai", 2027, 63, "Submitted", ["Documentary"], "A garden, filmed for a year."),
    ("Signal Lost", "Grace Okoro", 2028, 104, "Submitted", ["Thriller"], "A radio operator hears herself."),
    ("A Field of Doors", "Petra Nováková", 2025, 92, "Declined", ["Drama"], "Doors, in a field."),
    ("The Beekeeper's Map", "Ilias Georgiou", 2028, 79, "Confirmed", ["Documentary", "Family"], "Bees know the way."),
    ("Night Bus 7", "Mariam Haddad", 2028, 98, "Selected", ["Comedy", "Drama"], "The last bus takes the long way."),
    ("Low Water", "Henrik Dahl", 2027, 110, "Submitted", ["Thriller"], "What the river shows."),
    ("Small Orchestra", "Rosa Delgado", 2028, 85, "Confirmed", ["Family"], "Nine children, one tuba."),
]
VENUES = [
    ("Harbour Hall", 320, "1 Quay Street", "+31 20 555 0101", True),
    ("Cinema Lumen", 180, "24 Mill Lane", "+31 20 555 0102", True),
    ("The Old Library", 60, "3 Church Square", "+31 20 555 0103", False),
    ("Garden Screen", 140, "Park entrance west", "+31 20 555 0104", True),
]
SCREENINGS = [
    ("Opening night", ["The Quiet Meridian"], ["Harbour Hall"], day(70, 20), 12.5, 211, "On sale"),
    ("Sunday matinee", ["Paper Kites"], ["Cinema Lumen"], day(72, 11), 7, 94, "On sale"),
    ("Late laughs", ["Bread for the Ferry"], ["Garden Screen"], day(72, 22), 9, 37, "On sale"),
    ("Bees and tea", ["The Beekeeper's Map"], ["The Old Library"], day(73, 15), 8, 60, "Sold out"),
    ("Small Orchestra live", ["Small Orchestra"], ["Harbour Hall"], day(74, 19), 14, 0, "Planned"),
    ("School morning", ["Paper Kites"], ["Harbour Hall"], day(74, 10), 4, 188, "On sale"),
]
TEAM = [
    ("Nadia Brandt", "nadia@lanternfest.example", "Programme", day(-900)),
    ("Tomas Eklund", "tomas@lanternfest.example", "Venues", day(-600)),
    ("Yara Costa", "yara@lanternfest.example", "Guests", day(-250)),
    ("Ben Achterberg", "ben@lanternfest.example", "Tickets", day(-40)),
]
EQUIPMENT = [
    ("Projector A", "Projector", 4200, "In use", day(-800)),
    ("Projector B", "Projector", 4350, "Repair", day(-500)),
    ("Sound desk", "Sound", 1890, "In use", day(-420)),
    ("Microphone set", "Sound", 640, "In store", day(-420)),
    ("Folding screen 6 m", "Screen", 2300, "In store", day(-200)),
    ("Laptop 3", "Computer", 1150, "In use", day(-90)),
]
STATES = ["Submitted", "Selected", "Confirmed", "Declined"]
BASES = {
    "Lantern Film Festival": {
        "Films": {
            "description": "All films that were submitted.", "age": day(160), "every": day(9, 5), "rows": FILMS,
            "fields": [
                ("Title", "singleLineText"), ("Director", "singleLineText"), ("Year", "number"), ("Minutes", "number"),
                ("Status", "singleSelect", STATES),
                ("Genres", "multipleSelects", ["Drama", "Documentary", "Comedy", "Thriller", "Family", "Animation"]),
                ("Summary", "multilineText"), ("Screenings", "multipleRecordLinks", ("Screenings", "Films")),
                ("Stills", "multipleAttachments"), ("Submitted at", "createdTime"),
            ],
        },
        "Venues": {
            "description": "", "age": day(200), "every": day(2), "rows": VENUES,
            "fields": [
                ("Name", "singleLineText"), ("Seats", "number"), ("Address", "singleLineText"),
                ("Phone", "phoneNumber"), ("Step-free", "checkbox"),
                ("Screenings", "multipleRecordLinks", ("Screenings", "Venue")),
            ],
        },
        "Screenings": {
            "description": "What is shown where, and how many tickets are sold.", "age": day(30), "every": day(3, 7),
            "rows": SCREENINGS,
            "fields": [
                ("Name", "singleLineText"), ("Films", "multipleRecordLinks", ("Films", "Screenings")),
                ("Venue", "multipleRecordLinks", ("Venues", "Screenings")), ("Starts at", "dateTime"),
                ("Price", "currency", "€"), ("Tickets sold", "number"),
                ("State", "singleSelect", ["Planned", "On sale", "Sold out", "Cancelled"]),
            ],
        },
        "Team": {
            "description": "", "age": day(900), "every": day(200), "rows": TEAM,
            "fields": [("Name", "singleLineText"), ("Email", "email"), ("Area", "singleLineText"), ("Since", "date")],
        },
    },
    "Office": {
        "Equipment": {
            "description": "What we own.", "age": day(300), "every": day(20), "rows": EQUIPMENT,
            "fields": [
                ("Name", "singleLineText"),
                ("Kind", "singleSelect", ["Projector", "Sound", "Screen", "Computer"]), ("Price", "currency", "€"),
                ("State", "singleSelect", ["In use", "In store", "Repair"]), ("Bought", "date"),
            ],
        },
    },
}
# fmt: on
