"""Android's debug bridge to the simulated phone, for servers that drive a phone through `adb`."""

import base64
import re

import apps
from apps import AVD, HEIGHT, MODEL, SERIAL, VERSION, WIDTH, device, fill

from mcp_sim.libraries.screens import android, picture
from mcp_sim.programs import Refused, Result, initial, tool

tables = {**apps.tables}
PROPERTIES = {
    "ro.build.version.release": VERSION, "ro.boot.qemu.avd_name": AVD, "ro.product.model": MODEL,
}  # fmt: skip


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def launched(phone, package):
    if not phone.launch(package):
        raise Refused("** No activities found to run, monkey aborted.")


def screenshot(phone):
    data, _ = picture.png(phone.views(), max(phone.size))
    return Result(blocks=[{"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}])


COMMANDS = (
    (r"input tap (\d+) (\d+)", lambda phone, x, y: phone.tap(int(x), int(y))),
    (r"input swipe (\d+) (\d+) \1 \2 \d+", lambda phone, x, y: phone.long_press(int(x), int(y))),
    (r"input swipe -?\d+ (-?\d+) -?\d+ (-?\d+) \d+", lambda phone, top, end: phone.swipe(int(top), int(end))),
    (r"input text (.*)", lambda phone, text: phone.type(unescaped(text).replace("%s", " "))),
    (r"input keyevent KEYCODE_(\w+)", lambda phone, key: phone.press(key)),
    (r"(?:am start -n|monkey -p) ([\w.]+)(?:[/ ].*)?", launched),
    (r"am start -a android.intent.action.VIEW -d (.*)", lambda phone, url: phone.open_url(unescaped(url))),
    (r"am force-stop ([\w.]+)", lambda phone, package: phone.terminate(package)),
    (r"uiautomator dump /dev/tty", lambda phone: android.uiautomator(phone.views(), phone.package) + DUMPED),
    (r"wm size", lambda _phone: f"Physical size: {WIDTH}x{HEIGHT}\n"),
    (r"wm density", lambda _phone: "Physical density: 420\n"),
    (r"getprop (\S+)", lambda _phone, name: f"{PROPERTIES.get(name, '')}\n"),
    (r"cmd package query-activities .*", lambda phone: "".join(f"  packageName={name}\n" for name in phone.apps)),
    (
        r"cmd package resolve-activity .*?(\S+)",
        lambda phone, name: f"{name}/.Main\n" if name in phone.apps else "No activity found\n",
    ),
    (r"dumpsys window displays", lambda phone: f"  mCurrentFocus=Window{{1f u0 {phone.package}/.Main}}\n"),
    (r"dumpsys package .*|cmd locale set-app-locales .*|settings put .*", lambda _phone: ""),
    (r"settings get system user_rotation", lambda phone: f"{int(phone.size[0] > phone.size[1])}\n"),
    (r"screencap -p", screenshot),
)
"""Commands of the phone's shell, and what they do."""
DUMPED = "UI hierchary dumped to: /dev/tty\n"  # spelt so


@initial
def begin(given, world):
    """Fill the phone with the `contacts`, `messages`, `networks`, `settings` and shop of `world.state`."""
    fill(world, given)


@tool(verb="update", entity="tab")
def adb(world, arguments):
    line = re.sub(rf"^-s {SERIAL} ", "", " ".join(arguments))
    if line == "devices":
        return f"List of devices attached\n{SERIAL}\tdevice\n\n"
    if rotation := re.fullmatch(r"shell content insert .*name:s:user_rotation --bind value:i:(\d)", line):
        world.setting["landscape"] = rotation[1] in "13"
        return ""
    command = re.sub(r"^(shell|exec-out) ", "", line)
    for pattern, answer in COMMANDS:
        if match := re.fullmatch(pattern, command, re.DOTALL):
            return answer(device(world), *match.groups()) or ""
    raise Refused(f"/system/bin/sh: {command}: not found")
