"""A small project with a history, in which agents work if no repository is given."""

README = "# Tidewatch\n\nWarns harbours of high water.\n\n    python -m tidewatch\n"
GAUGE = '''"""Read the gauges."""


def level(gauge):
    """Return the level of a gauge in centimetres."""
    return gauge.read() / 10
'''
GAUGE_WITH_OFFSET = GAUGE.replace("gauge.read() / 10", "gauge.read() / 10 + gauge.offset")
ALERT = '''"""Decide when to warn."""

from tidewatch.gauge import level

LIMIT = 480


def is_high(gauge):
    return level(gauge) > LIMIT
'''
ALERT_LOWER = ALERT.replace("480", "450")
TESTS = """from tidewatch.alert import is_high


class Gauge:
    offset = 0

    def read(self):
        return 5000


def test_high_water_is_reported():
    assert is_high(Gauge())
"""
CHANGES = "## 0.2.0\n\n- Gauges have an offset.\n\n## 0.1.0\n\n- First version.\n"

INES = "Ines Duarte <ines@tidewatch.example>"
KOFI = "Kofi Mensah <kofi@tidewatch.example>"

PROJECT = {
    "repositories": [
        {
            "path": "/home/dev/tidewatch",
            "author": INES,
            "branch": "main",
            "branches": {"main": None, "limits": None},
            "commits": [
                {"message": "Describe the project", "author": INES, "files": {"README.md": README}},
                {
                    "message": "Read the gauges",
                    "author": KOFI,
                    "files": {"tidewatch/__init__.py": "", "tidewatch/gauge.py": GAUGE},
                },
                {"message": "Warn of high water", "author": KOFI, "files": {"tidewatch/alert.py": ALERT}},
                {"message": "Test the warning", "author": INES, "files": {"tests/test_alert.py": TESTS}},
                {
                    "message": "Let gauges have an offset",
                    "author": INES,
                    "files": {"tidewatch/gauge.py": GAUGE_WITH_OFFSET, "CHANGES.md": CHANGES},
                },
                {
                    "message": "Warn at 450 centimetres\n\nThe harbour master asked for more time.",
                    "author": KOFI,
                    "branch": "limits",
                    "files": {"tidewatch/alert.py": ALERT_LOWER},
                },
            ],
            "tags": {"v0.1.0": "main~1"},
            "remotes": {"origin": "https://git.tidewatch.example/tidewatch.git"},
            "files": {
                "README.md": README + "\nTests: `pytest`.\n",
                "CHANGES.md": CHANGES,
                "tidewatch/__init__.py": "",
                "tidewatch/gauge.py": GAUGE_WITH_OFFSET,
                "tidewatch/alert.py": ALERT,
                "tests/test_alert.py": TESTS,
                "notes.txt": "Ask Kofi about the gauge in Olhao.\n",
            },
            "untracked": ["notes.txt"],
        }
    ]
}
