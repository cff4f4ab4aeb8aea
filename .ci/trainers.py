"""Check the adapters to trainers with the trainers themselves, each in an environment of its own beside mcp-sim-core.

    python .ci/trainers.py FOLDER [NAME...]      FOLDER receives the environments

The scripts are in tests/training/trainers and examples/training. verifiers calls `mcp-sim serve --gym`, which is
installed where this file runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from environments import build_wheel, make

ROOT = Path(__file__).parents[1]
SCRIPTS = (ROOT / "tests" / "training" / "trainers", ROOT / "examples" / "training")
TRAINERS = {
    "verifiers": ["verifiers==0.4.0"],
    "openenv": ["openenv==0.10.0", "websockets"],
    "inspect_ai": ["inspect-ai==0.3.285"],
    "gymnasium": ["gymnasium==1.4.0"],
    "ray": ["ray==2.60.0"],
    "skyrl": ["skyrl-gym==0.4.0"],
    "art": ["openpipe-art==0.5.18", "openai<3"],
    "trl": ["trl==1.16.0", "torch==2.13.0", "jmespath"],
}
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "RAY_raylet_start_wait_time_s": "240",  # 30 are too few on a busy machine
}
LONGEST_RUN = 600  # seconds


def main(folder: Path, names: Sequence[str]) -> int:
    """Run all trainers, or those that are named. Return the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    core = build_wheel(ROOT / "packaging" / "core", folder / "wheel")
    with ThreadPoolExecutor(2) as pool:
        problems = [*pool.map(lambda name: check(folder, name, core), names or TRAINERS)]
    print(*filter(None, problems), sep="\n")
    return int(any(problems))


def check(folder: Path, name: str, core: Path) -> str:
    """Install a trainer and run its script. Return what went wrong, or ''."""
    clock, place = time.monotonic(), folder / name
    needs = (f"{core}[terminal]", *TRAINERS[name])  # the extra is for shipped scenarios with a shell
    try:
        python = make(place, needs)
    except subprocess.CalledProcessError as error:
        return f"{name}: cannot be installed beside mcp-sim-core: {error.stderr[-2000:]}"
    installed = time.monotonic()
    with gym_server() as url:
        arguments = {"verifiers": [url], "inspect_ai": [str(place / "logs")]}.get(name, [])
        [script] = [path for scripts in SCRIPTS for path in scripts.glob(f"with_{name}.py")]
        command = [str(python), str(script), *arguments]
        environment = {**os.environ, **ENVIRONMENT}
        try:
            done = subprocess.run(
                command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_RUN
            )
        except subprocess.TimeoutExpired:
            return f"{name}: not done after {LONGEST_RUN} s"
    print(f"{name}: installed in {installed - clock:.0f} s, ran in {time.monotonic() - installed:.0f} s", flush=True)
    print(*[f"  {line}" for line in done.stdout.splitlines()[-5:]], sep="\n", flush=True)
    return f"{name}: exit code {done.returncode}\n{done.stderr[-3000:]}" if done.returncode else ""


@contextmanager
def gym_server() -> Generator[str]:
    """Yield the URL of a resources server for flaky_crm."""
    command = [str(Path(sys.executable).parent / "mcp-sim"), "serve", "flaky_crm", "--gym", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = re.search(r"http\S+", server.stderr.readline())
        assert address is not None
        try:
            yield address[0]
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
