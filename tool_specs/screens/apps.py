"""The apps of the simulated phone, and the records that they begin with."""

import json

import people
import settings
import shop

from mcp_sim.libraries.screens import App
from mcp_sim.programs import records

tables = {
    "contact": {"ids": "1", "fields": {"name": "", "phone": "", "email": ""}},
    "message": {
        "ids": "1", "links": {"contact": "contact"}, "fields": {"contact": "", "text": "", "incoming": False, "at": ""},
    },
    "network": {"key": "id", "natural": True, "fields": {"id": "", "name": "", "joined": False}},
    "setting": {
        "singleton": True,
        "fields": {
            "wifi": True, "bluetooth": False, "airplane": False, "dark": False, "brightness": 60, "ringtone": "",
            "name": "", "landscape": False,
        },
    },
    **shop.tables,
}  # fmt: skip
APPS = (
    App("Contacts", "com.android.contacts", people.contacts),
    App("Messages", "com.google.android.apps.messaging", people.messages),
    App("Settings", "com.android.settings", settings.site),
    App("Wheelhouse", "example.wheelhouse.shop", shop.site),
)
WIDTH, HEIGHT = 1080, 2400
SERIAL, AVD, MODEL, VERSION = "emulator-5554", "Pixel_9", "Pixel 9", "16"
BEGINNING = json.loads("""{"contacts": [
  {"id": "1", "name": "Ada Vos", "phone": "0900 1234", "email": "ada@mail.example"},
  {"id": "2", "name": "Bo Smit", "phone": "0900 5678", "email": "bo@mail.example"},
  {"id": "3", "name": "Cem Aydin", "phone": "0900 9012", "email": ""},
  {"id": "4", "name": "Dora Klein", "phone": "0900 3456", "email": "dora@mail.example"},
  {"id": "5", "name": "Emeka Obi", "phone": "0900 7890", "email": ""}
], "messages": [
  {"contact": "1", "text": "Are you at the depot?", "incoming": true, "at": "2029-02-27T16:05:00Z"},
  {"contact": "2", "text": "The keys are with Ada", "incoming": true, "at": "2029-02-28T08:40:00Z"}
], "networks": [
  {"id": "1", "name": "Depot", "joined": true}, {"id": "2", "name": "Cafe", "joined": false}
]}""")
SETTINGS = {
    "wifi": True, "bluetooth": False, "airplane": False, "dark": False, "brightness": 60, "ringtone": "Chime",
    "name": "Pixel 9",
}  # fmt: skip


def device(world):
    """Return the phone, as it is held."""
    upright = not world.setting["landscape"]
    return world.screens.device(world, APPS, (WIDTH, HEIGHT) if upright else (HEIGHT, WIDTH))


def fill(world, given):
    """Write the records that a world begins with: what is given, and for other kinds of records those of the phone."""
    given = {**BEGINNING, **shop.BEGINNING, **(given or {})}
    for table, name in ((world.contact, "contacts"), (world.message, "messages"), (world.network, "networks")):
        for row in records(given, name):
            table.add(row)
    for name, value in {**SETTINGS, **given.get("settings", {}), "landscape": False}.items():
        world.setting[name] = value
    shop.fill(world, given)
