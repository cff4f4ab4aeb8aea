"""Check that clients of npm log in to `auth: oauth`, and get over each of its faults.

    python .ci/logins.py FOLDER      FOLDER receives the packages, the scenarios and the reports

The official Python client does the same in tests/server/test_oauth.py. The inspector prints a link, which is followed
here as a browser would. Its page is used in a headless Chromium, if there is one, by a person who consents.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

from clients import CLIENTS, LONGEST, Place, make_programs
from conformance import NODE, serving
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

FAULTS: dict[str, tuple[dict[str, Any], int, int, str]] = {
    "nothing": ({}, 1, 0, "vacuous"),
    "an expired access token": ({"access": "2 calls"}, 1, 0, "passed"),
    "an expired refresh token": ({"access": "2s", "refresh": "1s"}, 3, 0, "passed"),
    "a rotated refresh token": ({"access": "2s", "refresh_fails": "always"}, 3, 0, "passed"),
    "no refresh tokens": ({"access": "2 calls", "refresh": None}, 3, 0, "passed"),
    "denied consent": ({"consent": "denied", "denials": 1}, 2, 1, "vacuous"),
    "a token for another server": ({"wrong_audience": 1}, 1, 0, "passed"),
    "clocks that differ": ({"access": "1h", "skew": "3598s"}, 1, 0, "passed"),
    "a 401 in the middle": ({"revoked_at": 3}, 1, 0, "passed"),
    "a 401 that ends all tokens": ({"revoked_at": 3, "revokes": "all"}, 2, 0, "passed"),
}
"""Fault -> options, logins, denied logins, and the verdict of `reauthenticated`."""
LINK = re.compile(r"http://127\.0\.0\.1:\d+/authorize\?[^\s\x07\x1b\"]+")
PAGE = re.compile(r"http://127\.0\.0\.1:\d+\?\S+")
TOKEN = re.compile(rb"(?:access|refresh)-[0-9a-f]{40}")


def main(folder: Path) -> int:
    programs, known = make_programs(folder), tomllib.loads((CLIENTS / "clients.toml").read_text(encoding="utf-8"))
    sdk, inspector = (Place(name, known[name]["needs"], folder / name, programs) for name in ("npm_sdk", "inspector"))
    for place in (sdk, inspector):
        place.folder.mkdir(exist_ok=True)
        place.install()
    (sdk.folder / "logins.mjs").write_bytes((CLIENTS / "logins_npm_sdk.mjs").read_bytes())
    problems = [problem for name in FAULTS if (problem := problem_of(name, sdk, folder))]
    tools = ask_inspector(inspector, folder)
    problems += [] if "get_deal" in tools else [f"the inspector lists {tools}"]
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("the inspector's page: skipped, there is no Chromium")
    elif problem := problem_of_page(inspector, folder, chromium):
        problems.append(f"the inspector's page: {problem}")
    print(f"{len(FAULTS) + 1 + bool(chromium)} logins, {len(problems)} problems", *problems, sep="\n  ")
    return 1 if problems else 0


def locked(folder: Path, options: dict[str, Any]) -> str:
    """Write a scenario with faults of its login, and return its path."""
    path = folder / "locked.json"
    auth = {"oauth": options} if options else "oauth"
    body = {"mcp_sim": 1, "tools": "crm", "auth": auth, "expect": [{"reauthenticated": {}}]}
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


def problem_of(name: str, place: Place, folder: Path) -> str | None:
    """Return how a client behaves otherwise than expected, or shows a token; None if it does not."""
    options, logins, denials, verdict = FAULTS[name]
    trace, report = folder / "trace.jsonl", folder / "report.json"
    report.unlink(missing_ok=True)
    with serving(locked(folder, options), "--trace", str(trace), "--report", str(report), "--clock", "virtual") as url:
        got = json.loads(place.done("node", place.folder / "logins.mjs", f"{url}a/mcp"))
    verdicts = json.loads(report.read_bytes())["worlds"]["a"]["verdicts"]
    expected = {"calls": 5, "logins": logins, "denials": denials, "verdict": verdict}
    got["verdict"] = verdicts[0]["outcome"]
    print(f"{name:28}{got}", flush=True)
    if any(TOKEN.search(path.read_bytes()) for path in (trace, report)):
        return f"{name}: a token is in the trace or the report"
    return None if got == expected else f"{name}: expected {expected}, got {got}"


def ask_inspector(place: Place, folder: Path) -> str:
    """Return what the inspector prints after its user has followed the link."""
    environment = {**os.environ, "PATH": f"{place.programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(place.folder)}
    terminal, its_end = os.openpty()  # without one it asks no user to log in
    lines = list[str]()
    with serving(locked(folder, {})) as url:
        command = ["npx", "mcp-inspector", "--cli", f"{url}a/mcp", "--method", "tools/list"]
        with subprocess.Popen(command, cwd=place.folder, env=environment, stdout=its_end, stderr=its_end) as running:
            os.close(its_end)
            limit = Timer(LONGEST, running.kill)
            limit.start()
            with suppress(OSError), os.fdopen(terminal, encoding="utf-8", errors="replace") as output:
                for line in output:
                    lines.append(line)
                    if link := LINK.search(line):
                        urllib.request.urlopen(link[0], timeout=LONGEST).close()
            limit.cancel()
    return "".join(lines)


def problem_of_page(place: Place, folder: Path, chromium: str) -> str | None:
    """Return what fails where a person connects the inspector's page, consents and lists the tools."""
    launcher = place.folder / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher"
    settings = {"HOME": str(place.folder), "MCP_AUTO_OPEN_ENABLED": "false", "MCP_INSPECTOR_SECRET_STORE": "memory"}
    with serving(locked(folder, {"consent": "page"})) as url, sync_playwright() as playwright:
        options = ["--web", "--transport", "http", "--server-url", f"{url}a/mcp"]
        command = [NODE / "bin" / "node", launcher / "build" / "index.js", *options]
        with subprocess.Popen(
            list(map(str, command)), env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True
        ) as running:
            limit = Timer(LONGEST, running.kill)
            limit.start()
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            try:
                assert running.stdout is not None
                address = next(link[0] for line in running.stdout if (link := PAGE.search(line)))
                page = browser.new_page()
                page.set_default_timeout(1000 * LONGEST)
                page.goto(address)
                page.get_by_role("switch").dispatch_event("click")
                page.get_by_role("button", name="Grant").click()
                page.get_by_text("Connected", exact=True).wait_for()
                page.get_by_text("Tools", exact=True).first.click()
                page.get_by_text("get_deal").first.wait_for()
            except (PlaywrightError, StopIteration) as failure:
                return repr(failure)
            finally:
                limit.cancel()
                running.kill()
                browser.close()
    return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
