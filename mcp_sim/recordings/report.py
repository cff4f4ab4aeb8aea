"""The report of a measurement: scores per tool, per server and overall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from mcp_sim.recordings.columns import COLUMNS
from mcp_sim.recordings.score import CallScore
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen


@frozen
class Scores:
    """The score of a group of calls in each column that applies, from 0 to 1."""

    calls: int
    columns: Mapping[str, float]
    marks: Mapping[str, int]
    """How many marks each column has."""
    form: float | None
    """The mean of the columns that measure how answers look; None if none applies."""
    behaviour: float | None
    """The mean of the columns that measure what the server does; None if none applies."""
    score: float | None
    """The lower of form and behaviour. Of several servers, the mean of their scores."""

    def to_json(self) -> Record:
        rounded = {name: round(value, 4) for name, value in self.columns.items()}
        halves = {"score": self.score, "form": self.form, "behaviour": self.behaviour}
        numbers = {name: None if value is None else round(value, 4) for name, value in halves.items()}
        return {"calls": self.calls, **numbers, "columns": rounded, "marks": {**self.marks}}


class Report:
    """How faithful the answers to recorded sessions were."""

    def __init__(self, calls: Iterable[CallScore], cold: Report | None = None) -> None:
        self.calls: Sequence[CallScore] = tuple(calls)
        self.cold = cold
        """The report on what is inferred from the list of tools alone."""

    @cached_property
    def tools(self) -> Mapping[tuple[str, str], Scores]:
        """The scores by server and tool."""
        groups = defaultdict[tuple[str, str], list[CallScore]](list)
        for call in self.calls:
            groups[(call.server, call.tool)].append(call)
        return {key: scores_of(groups[key]) for key in sorted(groups)}

    @cached_property
    def servers(self) -> Mapping[str, Scores]:
        """The scores by server. A call counts for as much as any other."""
        groups = defaultdict[str, list[CallScore]](list)
        for call in self.calls:
            groups[call.server].append(call)
        return {name: scores_of(groups[name]) for name in sorted(groups)}

    @cached_property
    def overall(self) -> Scores:
        """The mean scores of the servers."""
        servers = [*self.servers.values()]
        columns = {column.name: [server.columns[column.name] for server in servers if column.name in server.columns]
                   for column in COLUMNS}  # fmt: skip
        marks = {
            name: sum(server.marks.get(name, 0) for server in servers) for name, column in columns.items() if column
        }
        means = {name: mean for name, column in columns.items() if (mean := _mean(column)) is not None}
        halves = ([server.form for server in servers], [server.behaviour for server in servers])
        scores = (*halves, [server.score for server in servers])
        means_of_servers = (_mean([value for value in values if value is not None]) for values in scores)
        return Scores(len(self.calls), means, marks, *means_of_servers)

    @property
    def score(self) -> float:
        """The overall score; 0 if nothing could be scored."""
        return self.overall.score or 0.0

    @property
    def sessions(self) -> int:
        """The number of sessions."""
        return len({(call.server, call.session) for call in self.calls})

    @property
    def crashes(self) -> Sequence[CallScore]:
        """The calls that mcp-sim could not answer."""
        return [call for call in self.calls if call.answered is None]

    def to_json(self) -> Record:
        """Return the report as JSON, without the calls."""
        servers = {name: {**scores.to_json(), "tools": self._tools_of(name)} for name, scores in self.servers.items()}
        cold = {} if self.cold is None else {"cold": self.cold.to_json()}
        counts = {"sessions": self.sessions, "crashes": len(self.crashes)}
        return {**self.overall.to_json(), **counts, "servers": servers, **cold}

    def _tools_of(self, server: str) -> Record:
        return {tool: scores.to_json() for (name, tool), scores in self.tools.items() if name == server}


def scores_of(calls: Sequence[CallScore]) -> Scores:
    """Return the scores of a group of calls: in each column the mean over the groups of its marks."""
    columns, numbers = dict[str, float](), dict[str, int]()
    for column in COLUMNS:
        groups = defaultdict[str, list[float]](list)
        for call in calls:
            for mark in call.marks.get(column.name, ()):
                groups[mark.group].append(mark.value)
        mean = _mean([sum(values) / len(values) for values in groups.values()])
        if mean is not None:
            columns[column.name], numbers[column.name] = mean, sum(map(len, groups.values()))
    form, behaviour = (
        _mean([columns[column.name] for column in COLUMNS if column.half == half and column.name in columns])
        for half in ("form", "behaviour")
    )
    lower = min((value for value in (form, behaviour) if value is not None), default=None)
    return Scores(len(calls), columns, numbers, form, behaviour, lower)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
