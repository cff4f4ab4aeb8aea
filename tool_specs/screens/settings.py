"""The settings of a phone: pages of toggles, networks, sound, and the device's name."""

from html import escape

from app_screens import listed, row, screen

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://settings.example")
RINGTONES = ("Chime", "Marimba", "None")
PAGES = {"wifi": "/network", "bluetooth": "/network", "airplane": "/network", "dark": "/display"}
"""Setting -> the page that has its toggle."""


def toggle(world, key, label):
    checked = " checked" if world.setting[key] else ""
    return (
        f'<form action="/set/{key}" method="post"><label style="display: block">{label} <input type="checkbox" '
        f'role="switch" id="{key}" name="on" onchange="this.form.submit()"{checked}></label></form>'
    )


@site.page("/")
def top(world):
    setting = world.setting
    joined = next((network["name"] for network in world.network if network["joined"]), "Not connected")
    rows = (
        row("/network", "Network & internet", joined if setting["wifi"] else "Off"),
        row("/display", "Display", "Dark theme" if setting["dark"] else "Light theme"),
        row("/sound", "Sound", setting["ringtone"]),
        row("/about", "About phone", setting["name"]),
    )
    return screen("Settings", listed(rows))


@site.page("/network")
def network(world):
    toggles = (
        toggle(world, "airplane", "Airplane mode"), toggle(world, "bluetooth", "Bluetooth"),
        toggle(world, "wifi", "Wi-Fi"),
    )  # fmt: skip
    rows = (
        row(f"/network/{net['id']}", net["name"], "Connected" if net["joined"] else "Saved") for net in world.network
    )
    below = listed(rows) if world.setting["wifi"] else "<p>To see available networks, turn Wi-Fi on</p>"
    return screen("Network & internet", "".join(toggles) + below, up="/")


def network_of(world, id):
    net = world.network.get(id)
    if net is None:
        raise NotFound(f"There is no network {id}.")
    return net


@site.page("/network/<id>")
def network_details(world, id):
    net = network_of(world, id)
    state, label = ("Connected", "Disconnect") if net["joined"] else ("Not connected", "Connect")
    return screen(
        net["name"],
        f'<p id="summary">{state}</p><form action="/network/{net["id"]}" method="post">'
        f'<button id="join">{label}</button></form>',
        up="/network",
    )


@site.post("/network/<id>")
def join(world, id):
    chosen = network_of(world, id)
    joins = not chosen["joined"]
    for net in world.network:
        net["joined"] = joins and net["id"] == chosen["id"]
    raise Redirect(f"/network/{id}")


@site.post("/set/<key>")
def set_toggle(world, key, on=""):
    if key not in PAGES:
        raise NotFound(f"There is no setting {key}.")
    world.setting[key] = bool(on)
    raise Redirect(PAGES[key])


@site.page("/display")
def display(world):
    slider = (
        '<form action="/brightness" method="post"><label>Brightness <input type="range" id="brightness" name="value" '
        f'min="0" max="100" value="{world.setting["brightness"]}" onchange="this.form.submit()"></label></form>'
    )
    return screen("Display", toggle(world, "dark", "Dark theme") + slider, up="/")


@site.post("/brightness")
def set_brightness(world, value="0"):
    world.setting["brightness"] = int(value) if value.isdecimal() and len(value) < 4 else 0
    raise Redirect("/display")


@site.page("/sound")
def sound(world):
    choices = "".join(
        f'<label style="display: block">{name} <input type="radio" name="ringtone" value="{name}" '
        f'onchange="this.form.submit()"{" checked" if name == world.setting["ringtone"] else ""}></label>'
        for name in RINGTONES
    )
    return screen("Sound", f'<p>Ringtone</p><form action="/sound" method="post">{choices}</form>', up="/")


@site.post("/sound")
def set_sound(world, ringtone=""):
    if ringtone in RINGTONES:
        world.setting["ringtone"] = ringtone
    raise Redirect("/sound")


@site.page("/about")
def about(world):
    return screen(
        "About phone",
        '<form action="/about" method="post"><label>Device name <input id="device_name" name="name" '
        f'value="{escape(world.setting["name"])}" required></label><button id="save">Save</button></form>'
        "<p>Android version 16</p>",
        up="/",
    )


@site.post("/about")
def rename(world, name=""):
    if name.strip():
        world.setting["name"] = name.strip()
    raise Redirect("/about")
