"""Fixtures that several test files share."""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from support.effort import EXAMPLES
from support.pets import ProblemsIn, Write
from support.warm import COLD, PYTHON

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check

if TYPE_CHECKING:
    from support.help_desk import Desk
    from support.over_http import Served

SMALL_CRM = """\
mcp_sim: 1
name: small-crm
tools: crm
seed: 7
world:
  now: 2029-03-01T09:00:00Z
  records:
    company: {count: 2, rows: [{id: cmp_001, name: Wielhuis}]}
    contact: {count: 3, rows: [{id: con_00001, name: Ada Vos, email: ada@wielhuis.example, stage: lead}]}
    deal:
      count: 2
      rows:
        - {id: deal_0001, title: Winter tyres, amount: 100, stage: won, contact_id: con_00001, company_id: null}
        - {id: deal_0002, title: Chains, amount: 50, stage: proposal, contact_id: con_00001, company_id: null}
    activity: 0
"""

TIME_LIMIT = 240.0
"""Seconds that a test may take, and its setup and teardown each. What hangs fails and prints where."""


# No property depends on how fast the machine is.
settings.register_profile(
    "any machine", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    """Let subprocesses handle Ctrl-C, even if the run itself was started in the background, which ignores it."""
    config.addinivalue_line("markers", "time_limit(seconds): seconds that the test may take")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, which reads all tests over and over: a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _time_limit(item: pytest.Item) -> Generator[None]:
    """Fail what takes longer, wherever it waits: in a read, in a lock, in an event loop."""

    marker = item.get_closest_marker("time_limit")
    limit: float = TIME_LIMIT if marker is None else marker.args[0]

    def fail(_number: int, _frame: object) -> None:
        faulthandler.dump_traceback(sys.__stderr__ or 2)
        pytest.fail(f"took longer than {limit:g} seconds")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, limit, limit / 10)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    with _time_limit(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with _time_limit(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    with _time_limit(item):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def _no_trust_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:  # pyright: ignore[reportUnusedFunction] (pytest finds it)
    """Ignore the documents that the user of this machine trusts, and remember no others there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.delenv("MCP_SIM_TRUST", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm_python() -> Generator[None]:  # pyright: ignore[reportUnusedFunction] (pytest finds it)
    """Let what mcp-sim starts be a fork of the warm process. Tests that measure imports start `warm.COLD`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", PYTHON)
        multiprocessing.set_executable(COLD)  # its processes inherit open files
        yield


@pytest.fixture
def crm(tmp_path: Path) -> Callable[[str], Simulator]:
    """A factory for simulators of a small CRM. Its argument is YAML appended to the scenario."""

    def simulator(ending: str) -> Simulator:
        path = tmp_path / "scenario.yaml"
        path.write_text(SMALL_CRM + ending, encoding="utf-8")
        return Simulator.load(path)

    return simulator


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """A function that writes a document into the empty working directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def put(text: str | bytes, file: str = "x.yaml") -> str:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    return put


@pytest.fixture
def problems_in(write: Write) -> ProblemsIn:
    """Return the problems that `check` reports for a document."""

    def check_document(text: str | bytes, file: str = "x.yaml") -> list[str]:
        return [str(problem) for problem in check([write(text, file)])]

    return check_document


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def calm() -> Generator[Served]:
    """A server of the CRM without faults, over HTTP."""
    from support.over_http import listening  # its client takes a while to import

    with listening("calm_crm") as served:
        yield served


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A world of the help desk."""
    from support.help_desk import scenario  # the client of its tests takes a while to import

    return lambda: Simulator.load(scenario(tmp_path)).open()
