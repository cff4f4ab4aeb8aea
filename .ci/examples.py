"""Run the agents of examples/ through `mcp-sim run`, beside a mocked model, and the tests of examples/vitest.

    python .ci/examples.py FOLDER [EXAMPLE...]      FOLDER receives environments; may have those of clients.py

The frameworks ask aimock, an LLM API that answers from examples/agents/model.json, so that no key is needed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from clients import AT_ONCE, CLIENTS, LIBRARY, ROOT, Place, make_programs

EXAMPLES = ROOT / "examples"
AGENTS = EXAMPLES / "agents"
AIMOCK = "@copilotkit/aimock@1.42.0"
FRAMEWORKS = {
    "pydantic_ai": "pydantic_ai_agent.py",
    "openai_agents": "openai_agents_agent.py",
    "langchain": "langchain_agent.py",
    "npm_sdk": "typescript_agent.ts",
}
"""The client of clients.toml whose environment an agent needs -> the agent."""
LONGEST = 240  # seconds for one run: frameworks take up to 20 s to import on a busy machine


def main(folder: Path, asked: Sequence[str]) -> int:
    programs = make_programs(folder)
    commands = {
        "plain_python": ("agents/lost_deal.yaml", [sys.executable, str(AGENTS / "plain_python.py")]),
        "several_agents": (
            "several_agents/hand_over.yaml",
            [sys.executable, str(EXAMPLES / "several_agents" / "two_agents.py")],
        ),
    }
    with mocked_model(folder / "aimock", programs) as url:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            names = [name for name in FRAMEWORKS if not asked or name in asked]
            prepared = pool.map(lambda name: command(name, folder, programs), names)
            commands |= {name: ("agents/lost_deal.yaml", words) for name, words in zip(names, prepared, strict=True)}
            chosen = {name: run for name, run in commands.items() if not asked or name in asked}
            passed = pool.map(lambda run: passes(*run, url), chosen.values())
        failed = [name for name, is_passed in zip(chosen, passed, strict=True) if not is_passed]
    if not asked or "vitest" in asked:
        chosen["vitest"] = ("", [])
        failed += [] if vitest_passes(folder, programs) else ["vitest"]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} examples passed", *failed, sep="\n  ")
    return 1 if failed else 0


def command(name: str, folder: Path, programs: Path) -> list[str]:
    """Return the command of an agent on a framework, which is installed into an environment of its own."""
    needs = tomllib.loads((CLIENTS / "clients.toml").read_text(encoding="utf-8"))
    place = Place(name, needs[name]["needs"], folder / name, programs)
    place.folder.mkdir(exist_ok=True)
    place.install()
    agent = AGENTS / FRAMEWORKS[name]
    if not place.from_npm:
        return [*map(str, place.python), str(agent)]
    shutil.copy(agent, place.folder)  # node looks for packages beside the script
    return [str(programs / "node"), "--experimental-strip-types", "--no-warnings", str(place.folder / agent.name)]


@contextmanager
def mocked_model(folder: Path, programs: Path) -> Iterator[str]:
    """Yield the base URL of a model that answers from examples/agents/model.json."""
    place = Place("aimock", [AIMOCK], folder, programs)
    folder.mkdir(parents=True, exist_ok=True)
    place.install()
    server = folder / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    words = [str(programs / "node"), str(server), "--port", "0", "--fixtures", str(AGENTS / "model.json"), "--strict"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                address = re.search(r"http://[\d.]+:\d+", line)
                if address is not None:
                    yield f"{address[0]}/v1"
                    return
            raise SystemExit("aimock did not start")
        finally:
            process.terminate()


def vitest_passes(folder: Path, programs: Path) -> bool:
    """Install the tests in TypeScript, generate their client, check the types and run them."""
    place = folder / "vitest" / "vitest"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(EXAMPLES / "vitest", place, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
    shutil.copytree(AGENTS, place.parent / "agents", dirs_exist_ok=True)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    npm = [str(programs / "node"), str(LIBRARY / "npm-cli.js")]
    for words in (["install", "--silent", "--no-audit", "--no-fund"], ["test"]):
        done = subprocess.run(
            [*npm, *words], cwd=place, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
        )
        if done.returncode:
            print(
                f"vitest: npm {words[0]}: exit code {done.returncode}", done.stdout, done.stderr, sep="\n", flush=True
            )
            return False
    return True


def passes(scenario: str, agent: Sequence[str], url: str) -> bool:
    """Make a run, and print its report unless it passes."""
    words = [sys.executable, "-m", "mcp_sim", "run", str(EXAMPLES / scenario), "--", *agent]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "unused"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        print(f"{agent}: exit code {done.returncode}", done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
