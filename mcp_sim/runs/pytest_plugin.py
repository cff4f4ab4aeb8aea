"""The pytest plugin: the fixture `mcp_sim`, a simulated world, and the marker that chooses its scenario.

Nothing of mcp-sim is imported until a test uses the fixture.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from mcp_sim.runs.threaded import ThreadedWorld, WorldThread

MARKER = (
    'mcp_sim(scenario, seeds=None, pass_k=1, intensity=None, clock="virtual"): the scenario of the fixture mcp_sim, a '
    "file beside the test or below the rootdir, or a shipped name. The test runs for each of the seeds (a number, or a "
    "list), and pass_k times for each."
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each seed and repetition that its marker asks for."""
    marker = metafunc.definition.get_closest_marker("mcp_sim")
    if marker is None or "mcp_sim" not in metafunc.fixturenames:
        return
    _check(marker)
    seeds, repetitions = _seeds(marker.kwargs.get("seeds")), range(1, marker.kwargs.get("pass_k", 1) + 1)
    runs = [(seed, repetition) for seed in seeds for repetition in repetitions]
    if runs != [(None, 1)]:
        metafunc.parametrize("mcp_sim", runs, indirect=True, ids=[_id(*run) for run in runs])


def _check(marker: pytest.Mark) -> None:
    """Fail, without a traceback, for a marker with other arguments than it takes."""
    if len(marker.args) != 1 or marker.kwargs.keys() - _OPTIONS.keys():
        pytest.fail(f"@pytest.mark.mcp_sim takes a scenario, and {', '.join(sorted(_OPTIONS))}", pytrace=False)
    for name, value in marker.kwargs.items():
        is_valid, expected = _OPTIONS[name]
        if not is_valid(value):
            pytest.fail(f"@pytest.mark.mcp_sim: {name}: expected {expected}, got {value!r}", pytrace=False)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_seeds(value: Any) -> bool:
    if isinstance(value, Collection) and not isinstance(value, str):
        seeds = cast("Collection[Any]", value)
        return bool(seeds) and all(isinstance(seed, int) for seed in seeds)
    return value is None or _is_count(value)


def _is_intensity(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1)


_OPTIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "seeds": (_are_seeds, "a number of at least 1, or a list of seeds"),
    "pass_k": (_is_count, "a number of at least 1"),
    "intensity": (_is_intensity, "a number from 0 to 1"),
    "clock": (lambda value: value in ("virtual", "real"), "'virtual' or 'real'"),
}
"""The options of the marker: whether a value is valid, and what is expected."""


def _seeds(given: int | Iterable[int] | None) -> list[int | None]:
    if given is None:
        return [None]
    return [*range(given)] if isinstance(given, int) else [*given]


def _id(seed: int | None, repetition: int) -> str:
    first = "" if seed is None else f"seed{seed}"
    return "-".join(part for part in (first, f"run{repetition}" if repetition > 1 or not first else "") if part)


@pytest.fixture(scope="session")
def _mcp_sim_thread() -> Iterator[WorldThread]:  # pyright: ignore[reportUnusedFunction] (pytest finds it)
    from mcp_sim.runs.threaded import WorldThread  # noqa: PLC0415 (only tests that use it pay for it)

    thread = WorldThread()
    yield thread
    thread.close()


@pytest.fixture
def mcp_sim(request: pytest.FixtureRequest, _mcp_sim_thread: WorldThread) -> Iterator[ThreadedWorld]:
    """A new world of the scenario that `@pytest.mark.mcp_sim` names."""
    marker = request.node.get_closest_marker("mcp_sim")
    if marker is None:
        pytest.fail('the fixture mcp_sim needs a scenario: @pytest.mark.mcp_sim("flaky_crm")', pytrace=False)
    _check(marker)
    seed, _ = getattr(request, "param", (None, 1))
    settings = {name: marker.kwargs[name] for name in ("intensity", "clock") if name in marker.kwargs}
    located, rootdir = _located(marker.args[0], request), request.config.rootpath
    world = _mcp_sim_thread.open(located, seed, trust=[rootdir], **settings)
    yield world
    world.close()


def _located(reference: str, request: pytest.FixtureRequest) -> str:
    """Return the path of a scenario beside the test or below the rootdir, else the name as it is."""
    folders = (request.path.parent, request.config.rootpath)
    return next((str(folder / reference) for folder in folders if _is_file(folder / reference)), reference)


def _is_file(path: Path) -> bool:
    return path.is_file()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Add the last steps of the world to the report of a failed test, and the command that repeats it."""
    report = yield
    world: Any = getattr(item, "funcargs", {}).get("mcp_sim")
    if report.failed and report.when == "call" and hasattr(world, "story"):
        repeat = f"repeat: pytest {shlex.quote(item.nodeid)}"
        report.sections.append(("mcp-sim", "\n".join([*world.story(), repeat])))
    return report
