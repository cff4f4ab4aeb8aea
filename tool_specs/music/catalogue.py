"""The music that exists: invented artists with their albums, and what its listener keeps and plays."""

ALBUMS = [
    (
        "Paper Lanterns", "Marlow & the Tide", "2019-03-22",
        "Harbour Light, Low Water, Paper Lanterns, The Ferryman's Daughter, Salt on the Window, Eleven Bells, Homeward",
    ),
    (
        "Slack Water", "Marlow & the Tide", "2022-09-09",
        "Slack Water, Northbound, A Rope in Each Hand, Gull Song, Winter Berth, Undertow",
    ),
    (
        "Second Shift", "Odile Brandt", "2021-05-14",
        "Clocking In, Fluorescent, Second Shift, Vending Machine Coffee, Forklift Waltz, Bus Home, Sunday Off",
    ),
    (
        "Glass Elevator", "Odile Brandt", "2024-02-02",
        "Lobby, Glass Elevator, Twenty-Third Floor, Fire Drill, Window Cleaner, Roof",
    ),
    (
        "Cartography", "Kestrel Nine", "2018-11-16",
        "Contour Lines, Magnetic North, Cartography, Scale One to One, Blank Spaces, The Legend",
    ),
    (
        "Altitude", "Kestrel Nine", "2023-06-30",
        "Thermal, Altitude, Thin Air, Windward, Descent, Landing Light",
    ),
    (
        "Rue des Tilleuls", "Amélie Fortin", "2020-10-02",
        "Rue des Tilleuls, Deux Cafés, Le Dernier Tram, Mistral, Nappe à Carreaux, Bonsoir Madame",
    ),
    (
        "Static Bloom", "Velvet Antenna", "2022-04-08",
        "Dial Tone, Static Bloom, Channel Six, Rabbit Ears, Test Card, Sign-Off",
    ),
    (
        "Night Frequencies", "Velvet Antenna", "2024-08-23",
        "Night Frequencies, Shortwave, Carrier, Interval Signal, Long Distance",
    ),
    (
        "Cedar Sessions", "Ifeoma Okafor Quintet", "2017-01-27",
        "Cedar, Blue Kola, Lagos 5 a.m., Brushes, Ballad for Uju, Last Set",
    ),
    (
        "Red Dust", "Juniper Hollow", "2021-08-20",
        "Red Dust, Screen Door, Mercy County, Two-Lane, Harvest Moon Motel, Kindling, Amen Creek",
    ),
    (
        "Motor Theory", "Die Werkstatt", "2023-10-13",
        "Leerlauf, Motor Theory, Drehmoment, Nachtschicht, Kupplung, Autobahn West",
    ),
]  # fmt: skip
"""Title, artist, date of release and tracks."""
PLAYLISTS = [
    ("Morning Run", "Fast enough to keep up with", True, "Altitude, Motor Theory, Night Frequencies"),
    ("Focus", "No words, or few of them", False, "Cedar Sessions, Cartography, Motor Theory"),
    ("Dinner with Friends", "", False, "Rue des Tilleuls, Cedar Sessions, Paper Lanterns"),
    ("Road Trip 2023", "Seven hours to the coast", True, "Red Dust, Slack Water, Static Bloom, Altitude"),
]
"""Name, description, whether it is public, and the albums that its tracks come from."""
DEVICES = [
    ("Kitchen speaker", "Speaker", 35), ("Work laptop", "Computer", 60), ("Phone of Robin", "Smartphone", 80),
]  # fmt: skip
"""Name, type and volume. The first one is active."""
SAVED = ["Cartography", "Glass Elevator", "Cedar Sessions"]
LISTENER = "Robin"
