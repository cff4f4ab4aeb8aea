"""Drive one simulated phone through the vendor's mobile-mcp, and another through the tools of `phone`, and compare.

    python benchmarks/libraries phone SERVER [--verbose]

SERVER is the file `index.js` of the npm package `@mobilenext/mobile-mcp`. It reaches the phone of `adb` by mobilecli
and `examples/phone/adb`. The same steps are made in both phones. Compared are the texts of all answers; a picture has a
sentence. Printed are the shares of equal steps and lines, and the milliseconds of a step. The exit code is 1 if a step
differs.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).resolve().parents[2]
Step = tuple[str, dict[str, Any]]
LIST: Step = ("list_elements_on_screen", {})
STEPS: list[Step] = [
    ("list_available_devices", {}),
    ("list_elements_on_screen", {"device": "nobody"}),
    LIST,
    ("launch_app", {"packageName": "com.android.contacts"}),
    ("get_foreground_app", {}),
    LIST,
    ("list_elements_on_screen", {"format": "json"}),
    ("click_on_screen_at_coordinates", {"label": "Create contact"}),
    LIST,
    ("type_keys", {"text": "lost", "submit": False}),
    ("click_on_screen_at_coordinates", {"id": "name"}),
    ("type_keys", {"text": 'Nora Lind & "Co" (50%) it\'s $5', "submit": False}),
    LIST,
    ("press_button", {"button": "BACK"}),
    ("click_on_screen_at_coordinates", {"id": "phone"}),
    ("type_keys", {"text": "0900 2222", "submit": True}),
    LIST,
    ("click_on_screen_at_coordinates", {"text": "Delete"}),
    LIST,
    ("press_button", {"button": "BACK"}),
    ("click_on_screen_at_coordinates", {"text": "Text"}),
    ("click_on_screen_at_coordinates", {"id": "compose_message_text"}),
    ("type_keys", {"text": "The keys are with Ada", "submit": True}),
    LIST,
    ("press_button", {"button": "BACK"}),
    ("press_button", {"button": "BACK"}),
    LIST,
    ("press_button", {"button": "HOME"}),
    ("click_on_screen_at_coordinates", {"text": "Settings"}),
    ("click_on_screen_at_coordinates", {"text": "Network & internet"}),
    LIST,
    ("click_on_screen_at_coordinates", {"id": "wifi"}),
    LIST,
    ("click_on_screen_at_coordinates", {"id": "up"}),
    ("click_on_screen_at_coordinates", {"text": "Sound"}),
    ("click_on_screen_at_coordinates", {"text": "Marimba"}),
    LIST,
    ("open_url", {"url": "https://wheelhouse.example/login"}),
    LIST,
    ("click_on_screen_at_coordinates", {"id": "email"}),
    ("type_keys", {"text": "ada@mail.example", "submit": False}),
    ("click_on_screen_at_coordinates", {"id": "password"}),
    ("type_keys", {"text": "wheels", "submit": False}),
    LIST,
    ("type_keys", {"text": "\n", "submit": False}),
    LIST,
    ("click_on_screen_at_coordinates", {"label": "Add Bell to cart"}),
    ("open_url", {"url": "https://wheelhouse.example/delivery"}),
    ("click_on_screen_at_coordinates", {"id": "country"}),
    LIST,
    ("click_on_screen_at_coordinates", {"text": "Belgium"}),
    ("click_on_screen_at_coordinates", {"id": "street"}),
    ("type_keys", {"text": "Kade 1", "submit": False}),
    ("press_button", {"button": "BACK"}),
    ("swipe_on_screen", {"direction": "up"}),
    LIST,
    ("swipe_on_screen", {"direction": "down", "x": 500, "y": 900, "distance": 150}),
    LIST,
    ("swipe_on_screen", {"direction": "left", "x": 500.5, "y": 900}),
    ("click_on_screen_at_coordinates", {"text": "Place order"}),
    LIST,
    ("double_tap_on_screen", {"x": 900, "y": 1900}),
    ("long_press_on_screen_at_coordinates", {"x": 900, "y": 1900}),
    ("get_screen_size", {}),
    ("set_orientation", {"orientation": "landscape"}),
    ("get_orientation", {}),
    LIST,
    ("set_orientation", {"orientation": "portrait"}),
    ("take_screenshot", {}),
    ("take_screenshot", {"scale": 0.5}),
    ("take_screenshot", {"maxSize": 2400}),
    ("press_button", {"button": "VOLUME_UP"}),
    ("press_button", {"button": "FOLD"}),
    ("open_url", {"url": "tel:09001234"}),
    ("open_url", {"url": "https://elsewhere.example/"}),
    ("click_on_screen_at_coordinates", {"ref": "@e99"}),
    ("click_on_screen_at_coordinates", {"x": 5}),
    ("type_keys", {"text": "", "submit": True}),
    ("launch_app", {"packageName": "no.such.app"}),
    ("launch_app", {"packageName": "com.android.settings", "locale": "fr;x"}),
    ("terminate_app", {"packageName": "com.android.contacts"}),
    ("launch_app", {"packageName": "com.android.contacts"}),
    LIST,
]
QUIET = Path(os.devnull).open("w")  # noqa: SIM115 (takes the errors of servers until the run ends)
COMMAND = re.compile(r"Command failed: \S*mobilecli\S*")
ELEMENT = re.compile(r"at=(\d+),(\d+) size=(\d+)x(\d+)")


def target(arguments: dict[str, Any], listed: str) -> dict[str, Any]:
    """Return arguments with the place of the element that they name by a text, a label or an id."""
    name = next((name for name in ("text", "label", "id") if name in arguments and len(arguments) == 1), None)
    if name is None:
        return arguments
    ending = arguments[name] if name != "id" else f'[^"]*id/{re.escape(arguments[name])}'
    line = next(line for line in listed.splitlines() if re.search(rf'{name}="{ending}"', line))
    box = ELEMENT.search(line)
    assert box is not None, line
    x, y, width, height = map(int, box.groups())
    return {"x": x + width // 2, "y": y + height // 2}


def text_of(answer: Any) -> str:
    text = "\n".join(block.text for block in answer.content if block.type == "text")
    return f"{'error: ' if answer.is_error else ''}{COMMAND.sub('Command failed: mobilecli', text)}"


@asynccontextmanager
async def connected(command: str, arguments: Sequence[str], **environment: str) -> AsyncGenerator[ClientSession]:
    server = StdioServerParameters(command=command, args=[*arguments], env={**os.environ, **environment})
    async with stdio_client(server, errlog=QUIET) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


@asynccontextmanager
async def phone_behind_adb() -> AsyncGenerator[str]:
    """Serve the phone of `adb`, and yield the address of its world."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mcp_sim", "serve", "adb", "--http", str(port), "--log-level", "error"]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.1)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()


async def compare(server: Path, sdk: str, *, verbose: bool) -> int:
    async with phone_behind_adb() as address:
        # mobilecli leaves a daemon behind, for each home
        environment = {"HOME": sdk, "ANDROID_HOME": sdk, "PHONE_URL": address, "MOBILEMCP_DISABLE_TELEMETRY": "1"}
        async with (
            connected("node", [str(server)], **environment) as theirs,
            connected(sys.executable, ["-m", "mcp_sim", "serve", "phone", "--log-level", "error"]) as ours,
        ):
            return await compare_steps(ours, theirs, verbose=verbose)


async def compare_steps(ours: ClientSession, theirs: ClientSession, *, verbose: bool) -> int:
    listed, equal, lines, equal_lines = "", 0, 0, 0
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for name, given in STEPS:
        if name == "click_on_screen_at_coordinates":
            listed = text_of(await ours.call_tool("mobile_list_elements_on_screen", {"device": "Pixel_9"}))
        texts = list[str]()
        arguments = {"device": "Pixel_9", **target(given, listed)}
        for side, client in (("ours", ours), ("theirs", theirs)):
            started = time.perf_counter()
            answer = await client.call_tool(f"mobile_{name}", arguments)
            times[side].append(time.perf_counter() - started)
            texts.append(text_of(answer))
        same = texts[0] == texts[1]
        equal += same
        both = set(texts[0].splitlines()) & set(texts[1].splitlines())
        lines += len(texts[1].splitlines())
        equal_lines += sum(line in both for line in texts[1].splitlines())
        if verbose and not same:
            difference = unified_diff(
                texts[0].splitlines(), texts[1].splitlines(), "phone", "mobile-mcp", lineterm="", n=0
            )
            print(f"{name} {given}", *difference, sep="\n  ")
    print(f"{equal} of {len(STEPS)} steps and {equal_lines} of {lines} lines equal")
    for side, seconds in times.items():
        print(f"{side}: {statistics.median(seconds) * 1000:.1f} ms a step, {max(seconds) * 1000:.1f} at most")
    return int(equal < len(STEPS))


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    parser.add_argument("server", type=Path)
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder, "platform-tools")
        tools.mkdir()
        tools.joinpath("adb").symlink_to(ROOT / "examples" / "phone" / "adb")
        run = compare(options.server, folder, verbose=options.verbose)
        status = asyncio.run(run)
        for mobilecli in options.server.parents[2].glob("mobilecli-*/mobilecli-*"):
            subprocess.run([mobilecli, "daemon", "stop"], env={**os.environ, "HOME": folder}, check=False)
    return status
