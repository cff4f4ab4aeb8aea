"""The pytest plugin: the fixture `mcp_sim`, a simulated world, and the marker that chooses its scenario.

Nothing of mcp-sim is imported until a test uses the fixture.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest

if TYPE_CHECKING:
    from mcp_sim.runs.threaded import ThreadedWorld, WorldThread

MARKER = (
    'mcp_sim(scenario, seeds=None, require=None, pass_k=None, intensity=None, clock="virtual"): the scenario of the '
    "fixture mcp_sim, a file beside the test or below the rootdir, or a shipped name. The test runs for each of the "
    "seeds (a number, or a list). With require=0.9, that share of the seeds must pass; with pass_k=3, a seed passes if "
    "all of 3 runs do."
)

MOST_DETAILS = 3  # the failed runs that a report about many runs shows in full


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist report to the process that has all runs
        config.pluginmanager.register(_Requirements(config), "mcp-sim-requirements")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each seed and repetition that its marker asks for."""
    marker = metafunc.definition.get_closest_marker("mcp_sim")
    if marker is None or "mcp_sim" not in metafunc.fixturenames:
        return
    _check(marker)
    seeds, repetitions = _seeds(marker.kwargs.get("seeds")), range(1, (marker.kwargs.get("pass_k") or 1) + 1)
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


def _is_share(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1)


_OPTIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "seeds": (_are_seeds, "a number of at least 1, or a list of seeds"),
    "require": (_is_share, "a number from 0 to 1"),
    "pass_k": (_is_count, "a number of at least 1"),
    "intensity": (_is_share, "a number from 0 to 1"),
    "clock": (lambda value: value in ("virtual", "real"), "'virtual' or 'real'"),
}
"""The options of the marker: whether a value is valid, and what is expected."""


def _seeds(given: int | Iterable[int] | None) -> list[int | None]:
    if given is None:
        return [None]
    return [*range(given)] if isinstance(given, int) else [*given]


def _id(seed: int | None, repetition: int) -> str:
    first = "" if seed is None else f"seed{seed}"
    return "-".join(text for text in (first, f"run{repetition}" if repetition > 1 or not first else "") if text)


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
    return next((str(folder / reference) for folder in folders if (folder / reference).is_file()), reference)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Add the last steps of the world to the report of a failed test, and the command that repeats it.

    A failed run whose marker has a requirement is reported like an expected failure: all runs together decide.
    """
    report = yield
    world: Any = getattr(item, "funcargs", {}).get("mcp_sim")
    if report.when != "call" or not hasattr(world, "story"):
        return report
    if report.failed:
        from mcp_sim.types.readable import readable  # noqa: PLC0415 (only a test that fails needs it)

        repeat = f"repeat: pytest {shlex.quote(item.nodeid)}"
        report.sections.append(("mcp-sim", "\n".join([*map(readable, world.story()), repeat])))
    guesses = [*world.guesses()]
    if guesses:
        report.mcp_sim_guesses = " ".join(guesses)
    requirement = _requirement(item)
    if requirement is not None:
        report.mcp_sim = {**requirement, "passed": None if report.skipped else report.passed}
        if report.failed:
            report.outcome, report.wasxfail = "skipped", "all runs together decide"
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that passed or failed on guessed answers, whatever options choose what else is shown."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    guessed = {report.nodeid: report.mcp_sim_guesses for report in reports if hasattr(report, "mcp_sim_guesses")}
    if guessed:
        terminalreporter.section("mcp-sim: guesses", sep="-")
    for test, sentence in guessed.items():
        terminalreporter.line(f"{test}: {sentence}")


# requirements on many runs --------------------------------------------------------------------------------------------


def _requirement(item: pytest.Item) -> dict[str, Any] | None:
    """Return the test that a run belongs to, its seed, and what is required of all runs; None if nothing is."""
    marker = item.get_closest_marker("mcp_sim")
    options: Mapping[str, Any] = {} if marker is None else marker.kwargs
    require, k = options.get("require"), options.get("pass_k")
    if require is None and k is None:
        return None
    callspec: Any = getattr(item, "callspec", None)
    seed, repetition = (None, 1) if callspec is None else callspec.params.get("mcp_sim", (None, 1))
    others = "" if callspec is None else callspec.id.replace(_id(seed, repetition), "").strip("-").replace("--", "-")
    test = item.nodeid.partition("[")[0] + (f"[{others}]" if others else "")
    return {"test": test, "seed": seed, "require": 1.0 if require is None else require, "k": k or 1}


class _Requirements:
    """Collects the reports of runs whose marker has a requirement, and reports on each test when all have ended."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: dict[str, list[Any]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if getattr(report, "mcp_sim", None) is not None:
            self._reports.setdefault(report.mcp_sim["test"], []).append(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        result = yield
        session.testscollected += len(self._reports)  # the progress in percent is one of these
        for test, reports in self._reports.items():
            self._config.hook.pytest_runtest_logreport(report=_report(test, reports))
        return result


def _report(test: str, reports: list[Any]) -> pytest.TestReport:
    """Return the report on all runs of a test."""
    from mcp_sim.runs.statistics import pass_hat, wilson  # noqa: PLC0415 (only tests with a requirement need it)

    require, k = reports[0].mcp_sim["require"], reports[0].mcp_sim["k"]
    runs: dict[int | None, list[bool]] = {}
    for report in reports:
        if report.mcp_sim["passed"] is not None:
            runs.setdefault(report.mcp_sim["seed"], []).append(report.mcp_sim["passed"])
    whole = {seed: passed for seed, passed in runs.items() if len(passed) >= k}
    rate = pass_hat(k, [(sum(passed), len(passed)) for passed in whole.values()])
    file, line, _ = reports[0].location
    location, keywords = (file, line, test.rpartition("::")[2]), dict[str, Literal[1]](mcp_sim=1)
    if rate is None:
        because = (file, line or 0, "Skipped: not exercised in enough runs")
        return pytest.TestReport(test, location, keywords, "skipped", because, "call")
    good, interval = sum(all(passed) for passed in whole.values()), wilson(rate * len(whole), len(whole))
    seeds = f"{good} of {len(whole)} seed{'' if len(whole) == 1 else 's'}"
    count = f"{seeds} passed" if k == 1 else f"in {seeds} all {k} runs passed"
    statistic = "the pass rate" if k == 1 else f"pass^{k}"
    sentence = (
        f"{statistic} is {100 * rate:.0f} % ({count}; 95 % interval {100 * interval.low:.0f} to "
        f"{100 * interval.high:.0f} %), {100 * require:g} % required"
    )
    sections = [("mcp-sim", sentence)]
    if rate >= require - 1e-9:
        return pytest.TestReport(test, location, keywords, "passed", None, "call", sections)
    failed = [report for report in reports if report.mcp_sim["passed"] is False]
    details = [text for report in failed[:MOST_DETAILS] for text in _details(report)]
    more = [f"\n{len(failed) - MOST_DETAILS} more failed runs"] if len(failed) > MOST_DETAILS else []
    return pytest.TestReport(test, location, keywords, "failed", "\n".join([sentence, *details, *more]), "call")


def _details(report: Any) -> Iterator[str]:
    """Yield why a run failed, and its last steps."""
    yield f"\n{report.nodeid}\n{report.longreprtext}"
    yield from (text for name, text in report.sections if name == "mcp-sim")
