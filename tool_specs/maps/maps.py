"""A simulated maps service of an open world: whatever place is asked for exists.

A place is computed from the text that asks for it, so that the same question has the same answer in every world, and is
then stored. Distances are computed from coordinates, so that they agree with each other in all tools.
"""

import math
import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from itertools import pairwise
from random import Random

from mcp_sim.programs import Refused, initial, tool

tables = {
    "place": {
        "key": "place_id",
        "natural": True,
        "fields": {
            "name": "", "formatted_address": "", "lat": 0.0, "lng": 0.0, "city": "", "types": [], "rating": 4.0,
            "formatted_phone_number": "", "website": "", "opens": 9, "closes": 18, "reviews": [],
        },
    },
}  # fmt: skip

CITIES = {
    "Amsterdam": (52.3728, 4.8936, "Netherlands"), "Utrecht": (52.0907, 5.1214, "Netherlands"),
    "Rotterdam": (51.9244, 4.4777, "Netherlands"), "Berlin": (52.52, 13.405, "Germany"),
    "Hamburg": (53.5511, 9.9937, "Germany"), "Munich": (48.1374, 11.5755, "Germany"),
    "Paris": (48.8566, 2.3522, "France"), "Lyon": (45.764, 4.8357, "France"),
    "London": (51.5074, -0.1278, "United Kingdom"), "Manchester": (53.4808, -2.2426, "United Kingdom"),
    "Madrid": (40.4168, -3.7038, "Spain"), "Barcelona": (41.3874, 2.1686, "Spain"),
    "Rome": (41.9028, 12.4964, "Italy"), "Milan": (45.4642, 9.19, "Italy"),
    "Vienna": (48.2082, 16.3738, "Austria"), "Zurich": (47.3769, 8.5417, "Switzerland"),
    "Warsaw": (52.2297, 21.0122, "Poland"), "Stockholm": (59.3293, 18.0686, "Sweden"),
    "New York": (40.7128, -74.006, "USA"), "Boston": (42.3601, -71.0589, "USA"),
    "Chicago": (41.8781, -87.6298, "USA"), "San Francisco": (37.7749, -122.4194, "USA"),
    "Seattle": (47.6062, -122.3321, "USA"), "Toronto": (43.6532, -79.3832, "Canada"),
    "Sao Paulo": (-23.5505, -46.6333, "Brazil"), "Cape Town": (-33.9249, 18.4241, "South Africa"),
    "Nairobi": (-1.2921, 36.8219, "Kenya"), "Mumbai": (19.076, 72.8777, "India"),
    "Singapore": (1.3521, 103.8198, "Singapore"), "Tokyo": (35.6762, 139.6503, "Japan"),
    "Sydney": (-33.8688, 151.2093, "Australia"),
}  # fmt: skip
COUNTRIES = {country.casefold() for _, _, country in CITIES.values()}
STREETS = ("Station", "Church", "Garden", "Mill", "Harbour", "Market", "Bridge", "School", "Linden", "Castle", "River")
OWNERS = ("Anna's", "Old Town", "Corner", "Royal", "Little", "Golden", "Green", "Riverside", "Central", "Blue")
REMARKS = ("Friendly and quick.", "A bit crowded at noon.", "Would come again.", "Good value.", "Hard to find parking.")
MODES = {
    "driving": (14.0, 1.3, 6e6), "transit": (9.0, 1.35, 3e6), "bicycling": (4.6, 1.2, 2e6),
    "walking": (1.35, 1.15, 1e6),
}  # fmt: skip
"""Meters per second in a city, how much longer a way is than the straight line, and the longest straight line."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COORDINATES = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*")


def chance_of(text):
    return Random(normal(text))  # noqa: S311 (the same question has the same answer)


def normal(text):
    """Return the words of a question. The country at the end is left out: a city is enough."""
    words = " ".join(re.findall(r"[^\W_]+", text.casefold()))
    return next((words.removesuffix(f" {country}") for country in COUNTRIES if words.endswith(f" {country}")), words)


def place_id(text):
    return f"ChIJ{urlsafe_b64encode(sha256(normal(text).encode()).digest())[:23].decode()}"


def city_in(text):
    """Return the last city that a text names."""
    words = f" {normal(text)} "
    ends = [(words.rfind(f" {normal(city)} "), city) for city in CITIES]
    at, city = max(ends)
    return city if at >= 0 else None


def place(world, text, failure):
    """Return the place that a text asks for: an address, a name or coordinates."""
    spot = COORDINATES.fullmatch(text)
    if spot:
        return place_at(world, float(spot[1]), float(spot[2]), failure)
    if not normal(text):
        raise Refused(f"{failure}: ZERO_RESULTS")
    known = world.place.find(formatted_address=text)  # as another answer called it
    return known[0] if known else world.place.get(place_id(text)) or new_place(world, text)


def new_place(world, text, near=None, within=4000.0, types=("establishment", "point_of_interest")):
    chance = chance_of(text)
    city = city_in(text) or (nearest_city(*near)[0] if near else chance.choice([*CITIES]))
    lat, lng, country = CITIES[city]
    name = text.split(",")[0].strip()
    if name.casefold().endswith(f" {city.casefold()}"):
        name = name[: -len(city)].strip()
    values = {"name": name, "city": city, "lat": lat, "lng": lng, "types": ["locality", "political"]}
    address = f"{city}, {country}"
    if normal(text) not in {normal(city), normal(address)}:
        far, angle = within * math.sqrt(chance.random()) * 0.98, chance.random() * 2 * math.pi
        lat, lng = near or (lat, lng)
        values["lat"] = round(lat + far * math.cos(angle) / 111_320, 7)
        values["lng"] = round(lng + far * math.sin(angle) / (111_320 * math.cos(math.radians(lat))), 7)
        street = name if re.search(r"\d", name) else f"{chance.choice(STREETS)} Street {chance.randrange(1, 200)}"
        values["types"] = ["street_address"] if street == name else [*types]
        address = f"{street}, {chance.randrange(1000, 9999)} {address}"
    return world.place.add({**values, **details(chance, name)}, place_id=place_id(text), formatted_address=address)


def details(chance, name):
    return {
        "rating": round(3.2 + 1.7 * chance.random(), 1),
        "formatted_phone_number": f"({chance.randrange(200, 999)}) 555-01{chance.randrange(100):02d}",
        "website": f"https://{normal(name).replace(' ', '-')}.example/",
        "opens": chance.randrange(7, 11),
        "closes": chance.randrange(17, 23),
        "reviews": [{"rating": chance.randrange(3, 6), "text": remark} for remark in chance.sample(REMARKS, 2)],
    }


def place_at(world, lat, lng, failure):
    """Return the known place at a point, else the address there."""
    check_point(lat, lng, failure)
    known = [row for row in world.place if straight(lat, lng, row["lat"], row["lng"]) < 30]
    if known:
        return min(known, key=lambda row: straight(lat, lng, row["lat"], row["lng"]))
    city, far = nearest_city(lat, lng)
    if far > 300_000:
        raise Refused(f"{failure}: ZERO_RESULTS")
    chance = chance_of(f"{lat:.4f} {lng:.4f}")
    address = f"{chance.choice(STREETS)} Street {chance.randrange(1, 200)}"
    row = new_place(world, f"{address}, {lat:.4f} {lng:.4f}, {city}", near=(lat, lng))
    row["lat"], row["lng"] = lat, lng
    return row


def check_point(lat, lng, failure):
    if not (-90 <= lat <= 90 and -180 <= lng <= 180):
        raise Refused(f"{failure}: INVALID_REQUEST")


def nearest_city(lat, lng):
    far, city = min((straight(lat, lng, *spot[:2]), city) for city, spot in CITIES.items())
    return city, far


def straight(lat, lng, other_lat, other_lng):
    """Return the distance between two points in meters, the same in both directions."""
    from_lat, to_lat = math.radians(lat), math.radians(other_lat)
    haversine = math.sin((to_lat - from_lat) / 2) ** 2
    haversine += math.cos(from_lat) * math.cos(to_lat) * math.sin(math.radians(other_lng - lng) / 2) ** 2
    return 2 * 6_371_000 * math.asin(min(1.0, math.sqrt(haversine)))


def spot(row):
    return {name: row[name] for name in ("lat", "lng")}


@tool(verb="get", entity="place", key="address")
def maps_geocode(world, address):
    row = place(world, address, "Geocoding failed")
    return {"location": spot(row), "formatted_address": row["formatted_address"], "place_id": row["place_id"]}


@tool(verb="get", entity="place")
def maps_reverse_geocode(world, latitude, longitude):
    row = place_at(world, latitude, longitude, "Reverse geocoding failed")
    parts = {
        "route": row["formatted_address"].split(",")[0],
        "locality": row["city"],
        "country": CITIES[row["city"]][2],
    }
    return {
        "formatted_address": row["formatted_address"],
        "place_id": row["place_id"],
        "address_components": [
            {"long_name": name, "short_name": name, "types": [kind]} for kind, name in parts.items()
        ],
    }


@tool(verb="search", entity="place", rows="places")
def maps_search_places(world, query, location=None, radius=5000):
    failure = "Place search failed"
    if not normal(query):
        raise Refused(f"{failure}: ZERO_RESULTS")
    near = CITIES[city_in(query) or chance_of(query).choice([*CITIES])][:2]
    if location and None not in (location.get("latitude"), location.get("longitude")):
        near = location["latitude"], location["longitude"]
        check_point(*near, failure)
    where = f"{near[0]:.3f} {near[1]:.3f} {radius:g}"
    chance = chance_of(f"{query} {where}")
    kind = re.split(r"\b(?:in|near|at|around)\b", query.strip(), maxsplit=1)[0].strip() or query.strip()
    words = re.sub(r"ies$", "y", kind.title()).removesuffix("s")
    rows = []
    for owner in chance.sample(OWNERS, chance.randrange(3, 8)):
        text = f"{owner} {words}, {where}"
        types = (normal(words).replace(" ", "_"), "point_of_interest", "establishment")
        row = world.place.get(place_id(text)) or new_place(world, text, near, min(radius or 5000, 50_000), types)
        rows.append(row)
    names = ("name", "formatted_address", "place_id", "rating", "types")
    return {"places": [{**{name: row[name] for name in names}, "location": spot(row)} for row in rows]}


@tool(verb="get", entity="place", key="place_id", reads=True)
def maps_place_details(world, place_id):
    row = world.place.get(place_id)
    if row is None:
        raise Refused("Place details request failed: NOT_FOUND")
    hour = (world.now.hour + round(row["lng"] / 15)) % 24
    hours = f"{row['opens']}:00 - {row['closes']}:00"
    names = ("name", "formatted_address", "formatted_phone_number", "website", "rating", "reviews")
    opening = {"open_now": row["opens"] <= hour < row["closes"], "weekday_text": [f"{day}: {hours}" for day in DAYS]}
    return {**{name: row[name] for name in names}, "location": spot(row), "opening_hours": opening}


def way(start, end, mode):
    """Return the length of a way in meters and its duration in seconds; None if it is too far."""
    direct, (speed, detour, farthest) = straight(start["lat"], start["lng"], end["lat"], end["lng"]), MODES[mode]
    if direct > farthest:
        return None
    length = direct * detour
    faster = 1 + length / (length + 60_000) if mode in {"driving", "transit"} else 1.0
    return round(length), round(length / (speed * faster))


def meters(value):
    return {"text": f"{value / 1000:.1f} km" if value >= 100 else f"{value} m", "value": value}


def seconds(value):
    minutes = max(1, round(value / 60))
    hours = f"{minutes // 60} hour{'s' * (minutes >= 120)} " if minutes >= 60 else ""
    return {"text": f"{hours}{minutes % 60} min{'s' * (minutes % 60 != 1)}", "value": value}


@tool(verb="search", entity="place", rows="results")
def maps_distance_matrix(world, origins, destinations, mode="driving"):
    failure = "Distance matrix request failed"
    rows, columns = ([place(world, text, failure) for text in texts] for texts in (origins, destinations))
    return {
        "origin_addresses": [row["formatted_address"] for row in rows],
        "destination_addresses": [row["formatted_address"] for row in columns],
        "results": [{"elements": [element(way(row, column, mode)) for column in columns]} for row in rows],
    }


def element(route):
    if route is None:
        return {"status": "ZERO_RESULTS"}
    return {"status": "OK", "duration": seconds(route[1]), "distance": meters(route[0])}


@tool(verb="get", entity="place", key="origin")
def maps_directions(world, origin, destination, mode="driving"):
    failure = "Directions request failed"
    start, end = place(world, origin, failure), place(world, destination, failure)
    route = way(start, end, mode)
    if route is None:
        raise Refused(f"{failure}: ZERO_RESULTS")
    chance = chance_of(f"{start['place_id']} {end['place_id']}")
    cuts = sorted(chance.random() for _ in range(2 if route[0] < 2000 else 5))
    streets = chance.sample(STREETS, len(cuts) + 1)
    turns = ("Start", *chance.choices(("Turn left", "Turn right"), k=len(cuts)))
    steps = [
        {
            "instructions": f"{turn} on <b>{street} Street</b>",
            "distance": meters(length),
            "duration": seconds(duration),
            "travel_mode": mode.upper(),
        }
        for turn, street, length, duration in zip(turns, streets, *(split(total, cuts) for total in route), strict=True)
    ]
    summary = f"{streets[len(streets) // 2]} Street"
    return {
        "routes": [
            {
                "summary": summary,
                "distance": meters(route[0]),
                "duration": seconds(route[1]),
                "steps": steps,
            }
        ]
    }


def split(total, cuts):
    """Cut a whole number into parts that add up to it."""
    ends = [0, *(int(total * cut) for cut in cuts), total]
    return [end - start for start, end in pairwise(ends)]


@tool(verb="compute")
def maps_elevation(_world, locations):
    results = []
    for point in locations:
        lat, lng = point["latitude"], point["longitude"]
        check_point(lat, lng, "Elevation request failed")
        waves = math.sin(lat * 0.9) * math.cos(lng * 0.7) * 240 + math.sin(lat * 31 + lng * 17) * 18
        results.append({"elevation": round(260 + waves, 3), "location": {"lat": lat, "lng": lng}, "resolution": 9.5})
    return {"results": results}


@initial
def begin(given, world):
    """Store places that a scenario describes: `world.state` maps what agents ask for to fields of the place."""
    for text, fields in (given or {}).items():
        place(world, text, "world.state").update(fields)
