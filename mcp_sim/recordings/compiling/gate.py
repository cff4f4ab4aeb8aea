"""The gate: what is wrong with a program, tool by tool. The program itself runs in confined processes only."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_sim.libraries.sandbox import Limits, Stopped, Unconfined, run_confined
from mcp_sim.recordings.compiling import removal
from mcp_sim.recordings.compiling.evidence import representative_sessions
from mcp_sim.recordings.compiling.probes import Finding, differences
from mcp_sim.recordings.compiling.single_calls import hooks_of
from mcp_sim.recordings.compiling.static_checks import misfitting_calls, static_problems
from mcp_sim.recordings.compiling.subject import PROGRAM, Subject, write_server
from mcp_sim.recordings.compiling.trial import job_of, known_of
from mcp_sim.recordings.ranking import Rank, Ranking
from mcp_sim.simulator.compile import checked, load
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Record, frozen
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.json_values import map_texts
from mcp_sim.types.programs import ProgramFunction

LIMITS = Limits(memory=2 << 30, cpu=150)
SECONDS = 240.0
"""Beyond the processor time that a trial has, on a machine that is shared; then a program that waits is ended."""
GOOD_ENOUGH = 0.97
"""From this agreement with the recordings that the author sees, nothing is said about them. Higher, and the author
repairs what recordings leave to chance, such as times."""
MOST_HELD = 40
"""The most sessions that are held back and replayed. Each is replayed after every round."""
NO_FUNCTION = f"{PROGRAM}: has no function with @tool"
_HASH_SEEDS = (0, 1)  # what depends on the order of a set differs between two seeds
_TARGET = "mcp_sim.recordings.compiling.trial:try_out"


@frozen
class Difference:
    """A call of a recorded session that is answered otherwise."""

    tool: str
    mean: float
    call: str
    expected: str
    answered: str
    reasons: Sequence[str]


@frozen
class Agreement:
    """How faithfully recorded sessions are answered, from 0 to 1."""

    score: float | None = None
    """None if there are no sessions."""
    tools: Mapping[str, float] = field(default_factory=dict[str, float])
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    behaviour: float | None = None
    behaviours: Mapping[str, float] = field(default_factory=dict[str, float])


@frozen
class Judged:
    """A program, and what the gate found."""

    text: str
    functions: Mapping[str, ProgramFunction] = field(default_factory=dict[str, ProgramFunction])
    whole: Sequence[str] = ()
    """Why the file cannot be used at all."""
    removed: Sequence[str] = ()
    """The imports that were taken out before anything was tried, and why."""
    flaws: Sequence[str] = ()
    """Calls that can only fail. The functions stay, and crash where one is reached."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    """The tools whose functions were taken out before anything was tried, and why."""
    findings: Sequence[Finding] = ()
    checks: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Tool -> what was checked."""
    answers: Sequence[Sequence[str]] = ()
    """The calls of the trial: tool, arguments, the hash of the answer, and the answer shortened."""
    writes: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The tools that write -> their table or entity, by their function or plan; None if tables do not see it."""
    filled: Collection[str] = ()
    """The tables that have records when a world begins."""
    held: Agreement = Agreement()
    shown: Agreement = Agreement()
    differences: Sequence[Difference] = ()
    hooks: Mapping[str, ProgramFunction] = field(default_factory=dict[str, ProgramFunction])
    """What answers unknown tools, invalid arguments and resources, by its name in findings."""

    def failing(self) -> dict[str, list[str]]:
        """Return the tools and hooks with a function that may not be kept, and why."""
        failures: dict[str, list[str]] = {}
        for finding in self.relevant():
            if finding.tool in self.answering and finding.kind not in {"defect", "advice"}:
                failures.setdefault(finding.tool, []).append(self.placed(finding))
        return failures

    @property
    def answering(self) -> dict[str, ProgramFunction]:
        """All functions that can be taken out: of tools, and hooks."""
        return {**self.functions, **self.hooks}

    def differs(self) -> bool:
        """Whether recordings that the author sees are answered too differently."""
        return (1.0 if self.shown.score is None else self.shown.score) < GOOD_ENOUGH

    def is_wrong(self) -> bool:
        """Whether there is more to say than advice."""
        has_problems = self.whole or self.removed or self.flaws or self.left_out
        return bool(has_problems or self.failing() or self._defective() or self.differs())

    def _defective(self) -> set[str]:
        """Return the tools whose functions are kept, but wrong."""
        return {finding.tool for finding in self.findings if finding.kind == "defect"}

    def relevant(self) -> list[Finding]:
        """Return the findings, those that matter most first.

        How real servers treat the life of records differs: where recordings show a tool, they decide, and not rules.
        """
        recorded = {tool for agreement in (self.held, self.shown) for tool, calls in agreement.calls.items() if calls}
        rules = {"lifecycle", "advice"}
        kept = [finding for finding in self.findings if finding.tool not in recorded or finding.kind not in rules]
        return sorted(kept, key=lambda finding: finding.kind == "advice")

    def placed(self, finding: Finding) -> str:
        """Return what is wrong with a tool, with the line of its function."""
        function = self.answering.get(finding.tool)
        if function is None or f"{PROGRAM}:" in finding.message:
            return finding.message
        return f"{PROGRAM}:{function.line}: {finding.message}"

    def writing(self, tables: Collection[str | None]) -> list[str]:
        """Return the tools whose functions use some tables."""
        used = {tool: tables_of(function) for tool, function in self.functions.items()}
        return [tool for tool, names in used.items() if names & {*tables}]

    def agreement(self) -> tuple[float, float]:
        """Return behaviour and score on the sessions that decide: those that are held back, if there are any."""
        deciding = self.held if self.held.score is not None else self.shown
        return deciding.behaviour or 0.0, deciding.score or 0.0

    def basis(self) -> str:
        """Return which sessions decide."""
        return "gate sessions" if self.held.score is not None else "shown sessions"

    def merit(self, tools: int) -> float:
        """Return how good the program is, to choose among several: negative if it cannot be used."""
        if self.whole or not self.functions:
            return -1.0
        passing = len(self.functions.keys() - self.failing().keys() - self._defective()) / tools
        scores = [agreement.score for agreement in (self.held, self.shown) if agreement.score is not None]
        return passing + 2 * (sum(scores) / len(scores) if scores else 0.0)


class Gate:
    """Judges programs for one server."""

    def __init__(self, subject: Subject, ranking: Ranking | None = None) -> None:
        self.subject, self._ranking = subject, ranking
        self._ranks = dict[str | None, Sequence[Rank]]()

    @cached_property
    def plans(self) -> Judged:
        """What the inferred plans alone do on the same sessions. Raises `UsageError` if they cannot be tried."""
        with self._written(None) as folder:
            try:
                plans = self._run(folder, _HASH_SEEDS[0], has_sessions=True)
            except Stopped as error:
                raise UsageError(f"{self.subject.server}: its tools cannot be tried: it {error}") from None
        if plans["problems"]:
            raise UsageError(f"{self.subject.server}: {'; '.join(_said(problem) for problem in plans['problems'])}")
        findings = [Finding(**finding) for finding in plans["findings"]]
        held, shown = (Agreement(**plans[which]) for which in ("held", "shown"))
        return Judged("", findings=findings, held=held, shown=shown, writes=plans["writes"])

    def score(self, text: str | None) -> float | None:
        """Return how faithfully a program, or the plans, answer the sessions that decide nothing; None without any."""
        if not self.subject.scored:
            return None
        with self._written(text) as folder:
            job = {**job_of(folder, self.subject.scored[:MOST_HELD], (), {}), "tries": False}
            try:
                return self._confined(job, folder, _HASH_SEEDS[0])["held"]["score"]
            except Stopped:
                return None

    def ranks(self, text: str | None) -> Sequence[Rank]:
        """Return how agents rank on a program, or on the plans; empty without a real server to compare with."""
        if self._ranking is None:
            return ()
        if text not in self._ranks:
            with self._written(text) as folder:
                self._ranks[text] = self._ranking(folder / "server.json")
        return self._ranks[text]

    def judge(self, text: str) -> Judged:
        """Return what is wrong with a program."""
        try:
            text = removal.with_tables_by_name(removal.without_waiting(text))
            static = [*static_problems(text, self._beside)]
            flaws = [f"{PROGRAM}:{line}: {why}" for line, why in misfitting_calls(text)]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            at = getattr(error, "lineno", None) or 1
            return Judged(text, whole=[f"{PROGRAM}:{at}: is not valid Python: {getattr(error, 'msg', error)}"])
        if self._module_problems:
            return Judged(text, whole=self._module_problems)
        with self._written(text) as folder:
            return replace(self._judge(text, folder, static), flaws=flaws)

    @contextmanager
    def _written(self, text: str | None) -> Generator[Path]:
        """Write the server with a program, or without one, into a folder for as long as it is tried."""
        with TemporaryDirectory(prefix="mcp-sim-") as name:
            write_server(self.subject, Path(name), text)
            yield Path(name)

    @property
    def _beside(self) -> set[str]:
        """The names under which a program imports the modules beside it."""
        return {name.partition("/")[0].removesuffix(".py") for name in self.subject.modules}

    @cached_property
    def _module_problems(self) -> list[str]:
        """What the modules beside a program may not do."""
        problems = list[str]()
        for name, text in self.subject.modules.items():
            try:
                problems += [f"{name}:{line}: {why}" for line, why in static_problems(text, self._beside)]
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                problems.append(f"{name}: is not valid Python: {getattr(error, 'msg', error)}")
        return problems

    def _judge(self, text: str, folder: Path, static: Sequence[tuple[int, str]]) -> Judged:
        problems = [*static]
        for _, listed, _ in checked(folder / "scenario.json", [folder]):
            problems += [
                (problem.line, f"{problem.path}: {problem.message}".removeprefix(": "))
                for problem in listed
                if problem.severity == "error"
            ]
        if problems:
            return self._without(text, [*dict.fromkeys(problems)])
        functions, hooks = self._functions(folder)
        if not functions:
            return Judged(text, whole=[NO_FUNCTION])
        return replace(self._tried(text, folder, functions), hooks=hooks)

    def _without(self, text: str, problems: Sequence[tuple[int, str]]) -> Judged:
        """Return what is wrong with a program without what has problems, and what uses that."""
        lines = [line for line, _ in problems]
        rest, users = removal.without_imports(text, lines)
        if rest != text:
            others = [problem for problem in problems if problem[0] not in removal.import_lines(text)]
            left = [*others, *((line, f"uses {name}, which it cannot import") for line, name in users)]
            judged = self._without(rest, left) if left else self.judge(rest)
            removed = [f"{PROGRAM}:{line}: {why}" for line, why in problems if (line, why) not in others]
            return replace(judged, removed=[*removed, *judged.removed])
        lost, functions = dict[str, list[str]](), removal.functions_in(text)
        for line, why in problems:
            name = removal.definition_at(text, line)
            for user in removal.dependents(text, name) if name else [""]:
                lost.setdefault(user, []).append(f"{PROGRAM}:{line}: {why}")
        left_out = {tool: lost[function.name] for tool, function in functions.items() if function.name in lost}
        helpers = lost.keys() - {function.name for function in functions.values()}
        is_whole = any(name in {"", "tables"} or removal.is_decorated(text, name) for name in helpers)
        if is_whole or not functions.keys() - left_out.keys():
            return Judged(text, whole=[f"{PROGRAM}:{line}: {why}" for line, why in problems])
        rest = self.judge(removal.without_definitions(text, lost))
        return replace(rest, left_out={**left_out, **rest.left_out})

    def _functions(self, folder: Path) -> tuple[dict[str, ProgramFunction], dict[str, ProgramFunction]]:
        """Return the functions of tools, and the hooks."""
        try:
            scenario = load(folder / "scenario.json", trust=[folder])
        except DocumentError:
            return {}, {}
        functions, hooks = dict[str, ProgramFunction](), dict[str, ProgramFunction]()
        for program in scenario.domain.programs:
            functions |= program.functions
            hooks |= hooks_of(program, scenario.servers[program.server])
        return functions, hooks

    def _tried(self, text: str, folder: Path, functions: Mapping[str, ProgramFunction]) -> Judged:
        """Return what is found when the program runs, under two hash seeds at the same time."""
        with ThreadPoolExecutor(len(_HASH_SEEDS)) as pool:
            runs = [pool.submit(self._run, folder, seed, has_sessions=not seed) for seed in _HASH_SEEDS]
            try:
                first, other = (run.result() for run in runs)
            except Stopped as error:
                return Judged(text, functions, [f"{PROGRAM}: running it {error}"])
        problems = [_said(problem) for row in (first, other) for problem in row["problems"]]
        if problems:
            return Judged(text, functions, [*dict.fromkeys(problems)])
        findings = [Finding(**finding) for finding in first["findings"]]
        for tool, arguments in differences(first["answers"], other["answers"]):
            message = f"{tool}({arguments}) answers otherwise under another hash seed: sort what comes from a set"
            findings.append(Finding(tool, "varies", message))
        differing = [Difference(**difference) for difference in first["differences"]]
        held, shown = (Agreement(**first[which]) for which in ("held", "shown"))
        seen = {name: first[name] for name in ("checks", "writes", "filled", "answers")}
        return Judged(text, functions, findings=findings, held=held, shown=shown, differences=differing, **seen)

    def _run(self, folder: Path, hash_seed: int, *, has_sessions: bool) -> Record:
        """Try out what is in a folder."""
        held: Sequence[Session] = self.subject.held[:MOST_HELD] if has_sessions else ()
        shown: Sequence[Session] = representative_sessions(self.subject.shown) if has_sessions else ()
        sessions, is_own = (*self.subject.shown, *self.subject.held), "state" in self.subject.world
        job = job_of(
            folder, held, shown, known_of(sessions, shown, self.subject.state, self.subject.samples, is_own=is_own)
        )
        return self._confined({**job, "tries": True}, folder, hash_seed)

    def _confined(self, job: Record, folder: Path, hash_seed: int) -> Record:
        try:
            report = run_confined(_TARGET, job, seconds=SECONDS, limits=LIMITS, readable=[folder], hash_seed=hash_seed)
            return map_texts(report, lambda text: text.replace(f"{folder}/", ""))  # it is gone afterwards
        except Unconfined as error:
            raise UsageError(f"programs that a model wrote cannot be tried here: {error}") from None


def tables_of(function: ProgramFunction) -> set[str]:
    """Return the tables that a function reads or writes."""
    effects = function.effects
    return {*effects.creates, *effects.updates, *effects.deletes, *effects.reads}


def _said(problem: Record) -> str:
    place = f"{PROGRAM}:{problem['line']}: " if problem["line"] else ""
    return f"{place}{problem['message']}"
