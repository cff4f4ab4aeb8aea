"""A phone in the tools of mobile-mcp."""

import base64
import re
from functools import wraps
from json import dumps

import apps
from apps import AVD, HEIGHT, MODEL, VERSION, WIDTH, device, fill

from mcp_sim.libraries.screens import android, picture
from mcp_sim.programs import Refused, Result, initial, invalid_arguments, tool, unknown_tool
from mcp_sim.programs.helpers import argument_failure, unknown_tool_failure

tables = {**apps.tables}
BUTTONS = (
    "HOME", "BACK", "VOLUME_UP", "VOLUME_DOWN", "ENTER", "DPAD_CENTER", "DPAD_UP", "DPAD_DOWN", "DPAD_LEFT",
    "DPAD_RIGHT", "BACKSPACE", "APP_SWITCH", "POWER",
)  # fmt: skip
LOCALE = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
DIRECTIONS = {"up": -1, "down": 1, "left": 0, "right": 0}
"""Direction -> how a finger moves along the height of the screen."""
DISTANCE = 400
"""Pixels of a swipe."""
PICTURE = 1024
"""Pixels of the longer side of a picture."""


class Advice(Exception):
    """What the agent can do something about: an answer that is not marked as an error."""


def advising(function):
    """Let a function answer with advice."""

    @wraps(function)
    def answer(world, **arguments):
        try:
            return function(world, **arguments)
        except Advice as advice:
            return f"{advice}. Please fix the issue and try again."

    return answer


def phone_of(world, id):
    if id != AVD:
        raise Advice(f'Device "{id}" not found. Use the mobile_list_available_devices tool to see available devices.')
    return device(world)


def failed(command, message):
    """Return the failure of a command of mobilecli, which the server calls."""
    return Refused(f"Error: Command failed: mobilecli {command} --device {AVD}\n{message}\n")


def shown(number):
    """Return a number as JavaScript prints it."""
    return int(number) if abs(number) < 1e21 and number == int(number) else float(number)


@tool(verb="list", entity="tab")
def mobile_list_available_devices(_world):
    phone = {
        "id": AVD, "name": MODEL, "platform": "android", "type": "emulator", "version": VERSION, "state": "online",
        "model": MODEL,
    }  # fmt: skip
    return dumps({"devices": [phone]}, separators=(",", ":"))


@tool(verb="list", entity="tab")
@advising
def mobile_list_apps(world, device):
    return f"Found these apps on device: {', '.join(f'{name} ({name})' for name in phone_of(world, device).apps)}"


@tool(verb="get", entity="tab")
@advising
def mobile_get_foreground_app(world, device):
    package = phone_of(world, device).package
    return f"Foreground app: {package} ({package})"


@tool(verb="update", entity="tab")
@advising
def mobile_launch_app(world, device, packageName, locale=""):
    phone = phone_of(world, device)
    command = f"apps launch {packageName}" + (f" --locale {locale}" if locale else "")
    for tag in locale.split(",") if locale else ():
        if not LOCALE.fullmatch(tag):
            raise failed(command, f"failed to launch app on device {AVD}: invalid locale tag: {dumps(tag)}")
    if not phone.launch(packageName):
        reason = f"no launcher activity found for {packageName} (is it installed?)"
        raise failed(command, f"failed to launch app on device {AVD}: {reason}")
    return f"Launched app {packageName}"


@tool(verb="delete", entity="tab")
@advising
def mobile_terminate_app(world, device, packageName):
    phone_of(world, device).terminate(packageName)
    return f"Terminated app {packageName}"


@tool(verb="get", entity="setting")
@advising
def mobile_get_screen_size(world, device):
    phone_of(world, device)
    return f"Screen size is {WIDTH}x{HEIGHT} pixels"


@tool(verb="update", entity="tab")
@advising
def mobile_click_on_screen_at_coordinates(world, device, x=None, y=None, ref=None):
    phone = phone_of(world, device)
    if ref is not None:
        views = dict(android.listed(phone.views()))
        if ref not in views:
            raise failed(f"io tap {ref}", f"ref {ref} not found on current screen; refs come from the latest 'dump ui'")
        left, top, width, height = views[ref].area
        phone.tap(left + width // 2, top + height // 2)
        return f"Clicked on element {ref}"
    if x is None or y is None:
        raise Advice("Either ref or both x and y must be provided")
    phone.tap(round(x), round(y))
    return f"Clicked on screen at coordinates: {shown(x)}, {shown(y)}"


@tool(verb="update", entity="tab")
@advising
def mobile_double_tap_on_screen(world, device, x, y):
    phone = phone_of(world, device)
    phone.tap(round(x), round(y))
    phone.tap(round(x), round(y))
    return f"Double-tapped on screen at coordinates: {shown(x)}, {shown(y)}"


@tool(verb="update", entity="tab")
@advising
def mobile_long_press_on_screen_at_coordinates(world, device, x, y, duration=500):
    phone_of(world, device).long_press(round(x), round(y))
    return f"Long pressed on screen at coordinates: {shown(x)}, {shown(y)} for {shown(duration)}ms"


@tool(verb="list", entity="tab")
@advising
def mobile_list_elements_on_screen(world, device, format="text"):
    return android.elements(phone_of(world, device).views(), format)


@tool(verb="update", entity="tab")
@advising
def mobile_press_button(world, device, button):
    phone = phone_of(world, device)
    if button not in BUTTONS:
        reason = f"AndroidDevice: unsupported button key: {button}"
        raise failed(f"io button {button}", f"failed to press button on device {AVD}: {reason}")
    phone.press(button)
    return f"Pressed the button: {button}"


@tool(verb="update", entity="tab")
@advising
def mobile_open_url(world, device, url):
    if not url.startswith(("http://", "https://")):
        raise Advice(
            "Only http:// and https:// URLs are allowed. Set MOBILEMCP_ALLOW_UNSAFE_URLS=1 to allow other URL schemes."
        )
    phone_of(world, device).open_url(url)
    return f"Opened URL: {url}"


@tool(verb="update", entity="tab")
@advising
def mobile_swipe_on_screen(world, device, direction, x=None, y=None, distance=0):
    phone = phone_of(world, device)
    way = DIRECTIONS[direction] * (distance or DISTANCE)
    if x is None or y is None:
        middle = phone.size[1] // 2
        phone.swipe(middle - DIRECTIONS[direction] * DISTANCE // 2, middle + DIRECTIONS[direction] * DISTANCE // 2)
        return f"Swiped {direction} on screen"
    phone.swipe(round(y), round(y + way))
    length = f" {shown(distance)} pixels" if distance else ""
    return f"Swiped {direction}{length} from coordinates: {shown(x)}, {shown(y)}"


@tool(verb="update", entity="tab")
@advising
def mobile_type_keys(world, device, text, submit):
    phone = phone_of(world, device)
    if not text:
        raise failed("io text ", "text is required")
    if text in ("\n", "\b"):
        phone.press({"\n": "ENTER", "\b": "BACKSPACE"}[text])
    else:
        # keys are sent with a command in which %s is a space; what is not ASCII goes through the clipboard
        phone.type(text.replace("%s", " ") if text.isascii() else text)
    if submit:
        phone.press("ENTER")
    return f"Typed text: {text}"


@tool(verb="get", entity="tab")
def mobile_take_screenshot(world, device, maxSize=None, scale=None):
    try:
        phone = phone_of(world, device)
    except Advice as advice:
        raise Refused(f"Error: {advice}") from None
    longest = maxSize or (scale and round(max(phone.size) * scale)) or PICTURE
    data, (width, height) = picture.png(phone.views(), longest)
    size = f"Screenshot is {width}x{height}"
    ways = [f"{round(whole / part, 3):g}" for whole, part in ((WIDTH, width), (HEIGHT, height))]
    mapping = (
        f"{size} and its coordinates match the screen." if (width, height) == (WIDTH, HEIGHT) else
        f"{size}. Screen coordinates are {WIDTH}x{HEIGHT}. To tap something you see in this screenshot, multiply its x "
        f"by {ways[0]} and y by {ways[1]}."
    )  # fmt: skip
    image = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}
    return Result(blocks=[{"type": "text", "text": mapping}, image])


@tool(verb="update", entity="setting")
@advising
def mobile_set_orientation(world, device, orientation):
    phone_of(world, device)
    world.setting["landscape"] = orientation == "landscape"
    return f"Changed device orientation to {orientation}"


@tool(verb="get", entity="setting")
@advising
def mobile_get_orientation(world, device):
    phone_of(world, device)
    return f"Current device orientation is {'landscape' if world.setting['landscape'] else 'portrait'}"


@invalid_arguments
def refuse_arguments(world, tool, arguments, problems):
    """Refuse wrong arguments as the SDK of the server does."""
    raise argument_failure("typescript", world, tool, arguments, problems)


@unknown_tool
def refuse_tool(_world, tool, _arguments):
    """Refuse a tool that the server does not have."""
    raise unknown_tool_failure("typescript", tool)


@initial
def begin(given, world):
    """Fill the phone with the `contacts`, `messages`, `networks`, `settings` and shop of `world.state`."""
    fill(world, given)
