"""A package that plans the rounds of a parcel depot, in which agents work if no files are given."""

ROUNDS = '''"""Rounds of a van: where it stops, and how long that takes."""

SPEED = 30.0


class Stop:
    def __init__(self, city, km, parcels=1):
        self.city = city
        self.km = km
        self.parcels = parcels


class Round:
    def __init__(self, stops=()):
        self.stops = list(stops)

    def add(self, stop):
        self.stops.append(stop)

    def length(self):
        return sum(stop.km for stop in self.stops)

    def hours(self):
        return self.length() / SPEED

    def cities(self):
        return sorted({stop.city for stop in self.stops})

    def parcels(self):
        return sum(stop.parcels for stop in self.stops)
'''
LOADS = '''"""How much a van carries."""

LIMIT = 120


def room(round_, limit=LIMIT):
    """Return how many parcels still fit."""
    return limit - len(round_.stops)


def fits(round_, limit=LIMIT):
    return room(round_, limit) >= 0


def split(stops, limit):
    """Return groups of stops with at most `limit` parcels each."""
    groups, current, count = [], [], 0
    for stop in stops:
        if current and count + stop.parcels > limit:
            groups.append(current)
            current, count = [], 0
        current.append(stop)
        count += stop.parcels
    return groups + [current] if current else groups
'''
REPORT = '''"""Print rounds."""


def line(number, round_):
    return f"{number}: {round_.length():.1f} km"


def report(rounds):
    lines = [line(number, round_) for number, round_ in enumerate(rounds, 1)]
    return "\\n".join(["Rounds", *lines])
'''
REPORT_MAIN = REPORT.replace(
    'return f"{number}: {round_.length():.1f} km"',
    'return f"{number}: {round_.length():.1f} km, {round_.parcels()} parcels"',
)
REPORT_HOURS = REPORT.replace(
    'return f"{number}: {round_.length():.1f} km"',
    'return f"{number}: {round_.length():.1f} km, {round_.hours():.1f} h"',
)
CHANGES = "# Changes\n\n- Rounds have hours.\n"
README = "# Depot\n\nPlans the rounds of a parcel depot. Tests: `pytest`.\n"

TESTS = {
    "tests/test_rounds.py": {
        "test_an_empty_round_is_short": "    assert Round().length() == 0\n",
        "test_the_length_is_that_of_all_stops": (
            "    assert Round([Stop('Zeist', 7.5), Stop('Houten', 5)]).length() == 12.5\n"
        ),
        "test_a_stop_is_added": (
            "    round_ = Round()\n    round_.add(Stop('Zeist', 7.5))\n    assert len(round_.stops) == 1\n"
        ),
        "test_hours_follow_the_speed": "    assert Round([Stop('Zeist', 45)]).hours() == 1.5\n",
        "test_cities_are_sorted": (
            "    assert Round([Stop('Zeist', 1), Stop('Bunnik', 1)]).cities() == ['Bunnik', 'Zeist']\n"
        ),
        "test_a_city_is_named_once": "    assert Round([Stop('Zeist', 1), Stop('Zeist', 2)]).cities() == ['Zeist']\n",
        "test_parcels_are_counted": "    assert Round([Stop('Zeist', 1, 3), Stop('Houten', 1, 2)]).parcels() == 5\n",
    },
    "tests/test_loads.py": {
        "test_an_empty_van_has_all_its_room": "    assert room(Round(), 10) == 10\n",
        "test_parcels_take_room": "    assert room(Round([Stop('Zeist', 1, 3)]), 10) == 7\n",
        "test_a_full_van_fits": "    assert fits(Round([Stop('Zeist', 1)] * 2), 2)\n",
        "test_a_small_round_is_not_split": "    assert len(split([Stop('Zeist', 1, 2)], 5)) == 1\n",
        "test_a_large_round_is_split": "    assert len(split([Stop('Zeist', 1, 3), Stop('Houten', 1, 3)], 5)) == 2\n",
        "test_nothing_is_split_into_nothing": "    assert split([], 5) == []\n",
    },
    "tests/test_report.py": {
        "test_a_report_has_a_title": "    assert report([]) == 'Rounds'\n",
        "test_a_line_has_a_number": "    assert line(3, Round()).startswith('3: ')\n",
        "test_a_line_has_the_length": "    assert '7.5 km' in line(1, Round([Stop('Zeist', 7.5)]))\n",
        "test_a_line_has_the_parcels": "    assert '2 parcels' in line(1, Round([Stop('Zeist', 1, 2)]))\n",
        "test_a_report_has_a_line_for_each_round": "    assert len(report([Round(), Round()]).split('\\n')) == 3\n",
    },
}
IMPORTS = {
    "tests/test_rounds.py": "from depot.rounds import Round, Stop\n",
    "tests/test_loads.py": "from depot.loads import fits, room, split\nfrom depot.rounds import Round, Stop\n",
    "tests/test_report.py": "from depot.report import line, report\nfrom depot.rounds import Round, Stop\n",
}
ROUND = {"depot/rounds.py": {"contains": "class Round"}}
NEEDS = {
    "tests/test_rounds.py": ROUND,
    "tests/test_loads.py": {"depot/loads.py": {"matches": r"def room[\s\S]*def fits[\s\S]*def split"}, **ROUND},
    "tests/test_report.py": {"depot/report.py": {"matches": r"def line[\s\S]*def report"}, **ROUND},
}
PARCELS = r"round_\.parcels\(\)|sum\((stop|s)\.parcels for (stop|s) in round_\.stops\)"
SPECIAL = {
    "test_parcels_take_room": {
        "needs": {"depot/loads.py": {"matches": rf"return limit - ({PARCELS})"}},
        "error": "assert 9 == 7",
    },
    "test_a_line_has_the_length": {
        "needs": {"depot/report.py": {"contains": ".length():.1f} km"}},
        "error": "assert '7.5 km' in '1: '",
    },
    "test_a_line_has_the_parcels": {
        "needs": {"depot/report.py": {"contains": "round_.parcels()} parcels"}},
        "error": "assert '2 parcels' in '1: 1.0 km, 0.0 h'",
    },
}
"""What single tests need besides, and what they show otherwise."""


def test_file(name):
    bodies = [f"\n\ndef {test}():\n{body}" for test, body in TESTS[name].items()]
    return IMPORTS[name] + "".join(bodies)


def declared():
    """Return the tests, with what files must hold for each to pass."""
    cases = {}
    for file, tests in TESTS.items():
        for test in tests:
            special = SPECIAL.get(test, {})
            cases[f"{file}::{test}"] = {**special, "needs": {**NEEDS[file], **special.get("needs", {})}}
    return cases


FIRST = {
    "CHANGES.md": CHANGES,
    "README.md": README,
    "depot/__init__.py": "",
    "depot/rounds.py": ROUNDS,
    "depot/loads.py": LOADS,
    "depot/report.py": REPORT,
}
INES = "Ines Duarte <ines@depot.example>"
KOFI = "Kofi Mensah <kofi@depot.example>"

PACKAGE = {
    "files": {"/home/dev/notes.txt": "Kofi wants the hours in the report.\n"},
    "repositories": [
        {
            "path": "/srv/depot",
            "author": INES,
            "branch": "main",
            "branches": {"main": None, "hours": None},
            "commits": [
                {"message": "Plan rounds", "author": INES, "date": "2029-02-05T09:00:00Z", "files": FIRST},
                {"message": "Test rounds, loads and reports", "author": INES, "date": "2029-02-06T10:30:00Z",
                 "files": {name: test_file(name) for name in TESTS}},
                {"message": "Show the hours of a round", "author": KOFI, "date": "2029-02-12T08:15:00Z",
                 "branch": "hours",
                 "files": {"depot/report.py": REPORT_HOURS}},
                {"message": "Show the parcels of a round", "author": INES, "date": "2029-02-14T16:40:00Z",
                 "files": {"depot/report.py": REPORT_MAIN}},
            ],
        }
    ],
    "tests": {"/srv/depot": declared()},
}  # fmt: skip
