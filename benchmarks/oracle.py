"""Measure what is lost between a perfect language model and the agent.

    python benchmarks/oracle.py DIR [--mutate] [--plain] [--servers a,b] [--limit N] [--details FILE] [--jobs N]

DIR has recorded sessions (docs/recording.md). Each is made again in a world of mcp-sim whose language model is an
endpoint that answers each call with the recorded answer. `exact` is the share of answers that are served as recorded,
`as JSON` the share if the layout of JSON texts does not count. Recorded answers that violate their own outputSchema are
only counted (`invalid`). `req/call` is the number of requests per call, `partial` the number of calls with a request
for less than the whole answer, and `grammar` the number of calls with a request whose schema does not allow the answer.

With `--mutate`, each session is made a second time. In each answer of a reading tool, one value that was shown before
of the same identified object is altered. `fixed`: a reading tool showed it, and no write came in between; such a value
must be corrected. `free`: a write came in between that did not name the object, or only a write showed the value.
`altered` is the share of the other answers that are served exactly without mutations, and are not with them. `facts` is
the share of the values that reading tools show again that are fixed or free, and `held` the share that the product
holds: facts times corrected.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from common.measuring import print_table
from common.recorded import (
    Identity,
    ImpliedRecords,
    Json,
    Repeated,
    at_path,
    conforms,
    data_of,
    differences,
    fits,
    mutated,
    only_text,
    parsed,
    same,
    wraps,
)

from mcp_sim import Simulator, World
from mcp_sim.recordings.responders import answer_of
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import Answer, RecordedCall, Session, read_sessions
from mcp_sim.types.errors import BadArguments, Crash, McpSimError

CAUSES_SHOWN = 12


@dataclass
class Mutation:
    """An altered value in the answer of the model."""

    identity: Identity
    path: list[str | int]
    was: Json
    altered: Json
    fixed: bool
    """Whether the earlier value is a fact for certain."""
    corrected: bool = False


@dataclass
class Measured:
    """A call: what was served, and why it differs from the recorded answer."""

    server: str
    session: str
    seq: int
    tool: str
    valid: bool
    """Whether the recorded answer conforms to the tool's outputSchema."""
    differences: list[str]
    """The parts of the answer that differ; `crash` if nothing was served."""
    cause: str
    whole: int
    partial: int
    forbidden: int
    replies: list[str]
    """What the oracle replied to each request."""
    recorded: Answer
    served: Answer | None
    provenance: dict[str, Json]
    mutation: Mutation | None = None
    repeated: int = 0
    """Values that the answer of a reading tool shows again, unchanged."""
    fixed: int = 0
    """Those of them that are facts for certain: a reading tool showed them, and no write came in between."""
    free: int = 0
    """The other facts among them that no write named in between."""

    misled: bool = False
    """Whether the answer is about an object with an altered value that was not corrected earlier."""

    @property
    def exact(self) -> bool:
        return not self.differences


@dataclass
class Replayed:
    """A session that was made again."""

    server: str
    calls: list[Measured] = field(default_factory=list[Measured])
    with_mutations: list[Measured] = field(default_factory=list[Measured])


# replaying ------------------------------------------------------------------------------------------------------------


def replay(task: tuple[Session, bool, bool]) -> Replayed:
    """Make a session again, with mutations a second time if wanted."""
    session, mutate, plain = task
    done = Replayed(session.server)
    done.calls = asyncio.run(replay_session(session, plain=plain, mutate=False))
    if mutate:
        done.with_mutations = asyncio.run(replay_session(session, plain=plain, mutate=True))
    return done


@cache
def endpoint() -> Oracle:
    """Return the endpoint of this process."""
    return Oracle()


async def replay_session(session: Session, *, plain: bool, mutate: bool) -> list[Measured]:
    """Make the calls of a session. Return what was served."""
    slot, tools = endpoint().open(plain=plain), session.tools
    schemas = {tool["name"]: tool.get("outputSchema") for tool in tools}
    implied = ImpliedRecords(tools)
    measured, tainted = list[Measured](), set[Identity]()
    with TemporaryDirectory() as folder:
        scenario = load(write_scenario(Path(folder), tools, session.state, slot))
        async with Simulator(scenario) as simulator, simulator.open("replayed") as world:
            for seq, call in enumerate(session.calls, 1):
                schema = schemas.get(call.tool)
                shown = implied.repeated(call)
                clean = [each for each in shown if each.identity not in tainted]
                mutation, answer = None, call.answer
                if mutate and implied.reads(call.tool):
                    mutation, answer = mutate_answer(call, clean, implied, Random(f"{session.name}/{seq}"), schema)
                slot.next_call(answer, schema)
                replayed = await measure_call(world, session, seq, call, slot)
                replayed.mutation, replayed.misled = mutation, len(clean) < len(shown)
                if mutation is not None and not is_corrected(mutation, replayed):
                    tainted.add(mutation.identity)
                replayed.repeated = len(shown) if implied.reads(call.tool) else 0
                replayed.fixed = sum(each.is_fact and not each.loose for each in shown)
                replayed.free = sum(each.is_fact and each.loose and not each.named for each in shown)
                measured.append(replayed)
                implied.note(call)
    return measured


def write_scenario(folder: Path, tools: Sequence[Json], state: Json, slot: Slot) -> Path:
    """Write a scenario with this state, whose world model is the oracle."""
    (folder / "listed.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    scenario: dict[str, Json] = {
        "mcp_sim": 1,
        "tools": "listed.json",
        "world": {"state": state or {}},
        "world_model": {"openai": {"base_url": slot.base_url, "model": MODEL}},
    }
    (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return folder / "scenario.yaml"


async def measure_call(world: World, session: Session, seq: int, call: RecordedCall, slot: Slot) -> Measured:
    """Make a call, and compare what is served with the recorded answer."""
    served, provenance = None, dict[str, Json]()
    try:
        served = answer_of(await world.call(call.tool, call.arguments))
        provenance = world.ledger.newest.get("measured", {})
        different = differences(call.answer, served)
    except (BadArguments, Crash) as error:
        different = ["crash"]
        provenance = {"crash": str(error)}
    if different == ["layout"] and call.answer["result"].get("structuredContent") is not None:
        different = []  # the text is the same JSON; a model is asked for the structured content only
    asked = slot.whole + slot.partial > 0
    cause = cause_of(different, provenance, asked=asked)
    valid = conforms(call.answer, slot.output_schema)
    return Measured(
        session.server, session.name, seq, call.tool, valid, different, cause, slot.whole, slot.partial, slot.forbidden,
        slot.replies, call.answer, served, provenance,
    )  # fmt: skip


def cause_of(different: Sequence[str], provenance: Mapping[str, Json], *, asked: bool) -> str:
    """Return why an answer differs, as far as the ledger shows."""
    if not different:
        return ""
    if different == ["crash"]:
        return "crash"
    if not asked:
        return "not asked"
    if provenance.get("rejected"):
        return "rejected"
    if provenance.get("repaired"):
        return "repaired"
    if "differs" in provenance:
        return "overruled"
    return "open fields only" if provenance.get("open_fields") else "not reported"


# mutations ------------------------------------------------------------------------------------------------------------


def mutate_answer(
    call: RecordedCall, shown: Sequence[Repeated], implied: ImpliedRecords, random: Random, schema: Json
) -> tuple[Mutation | None, Answer]:
    """Return an answer with one value altered that was shown before, if there is one that can be."""
    facts = [known for known in shown if known.is_fact and not isinstance(known.value, list) and not known.named]
    random.shuffle(facts)
    for fact in sorted(facts, key=lambda known: known.loose):
        value = other_value(fact.value, implied.others(fact.field, fact.value), random)
        answer = mutated(call.answer, fact.path, value)
        if answer is not None and (conforms(answer, schema) or not conforms(call.answer, schema)):
            return Mutation(fact.identity, list(fact.path), fact.value, value, fixed=not fact.loose), answer
    return None, call.answer


def other_value(value: Json, others: Sequence[Json], random: Random) -> Json:
    """Return another plausible value: that of another record, if there is one."""
    if isinstance(value, bool):
        return not value
    if others:
        return random.choice(others)
    return value + 1 if isinstance(value, int | float) else f"{value} B"


def is_corrected(mutation: Mutation, call: Measured) -> bool:
    """Note whether the earlier value was served, and return it."""
    served = None if call.served is None else data_of(call.served)
    mutation.corrected = call.exact or at_path(served, tuple(mutation.path)) == mutation.was
    return mutation.corrected


# reports --------------------------------------------------------------------------------------------------------------


HEAD = ("server", "calls", "crashes", "invalid", "exact", "as JSON", "altered", "not asked", "req/call", "partial",
        "grammar")  # fmt: skip
MUTATED = ("server", "fixed", "corrected", "free", "corrected", "unmutated", "altered", "shown again", "facts",
           "held")  # fmt: skip


def report(done: Sequence[Replayed], *, mutate: bool) -> None:
    """Print a row for each server and one for all, and the causes of differences."""
    groups = dict[str, list[Replayed]]()
    for session in done:
        groups.setdefault(session.server, []).append(session)
    rows = [row(server, group) for server, group in groups.items()]
    print_table("Perfect answers", HEAD, [*rows, row("all", done)])
    valid = [call for replayed in done for call in replayed.calls if call.valid]
    print_causes("Causes of differences", Counter(call.cause for call in valid if not call.exact))
    print_causes("Differing parts", Counter("+".join(call.differences) for call in valid if not call.exact))
    print_causes("Complaints", Counter(complaints(call.provenance for call in valid)))
    if mutate:
        rows = [mutated_row(server, group) for server, group in groups.items()]
        print_table("Mutated answers", MUTATED, [*rows, mutated_row("all", done)])


def row(name: str, done: Sequence[Replayed]) -> list[str]:
    calls = [call for session in done for call in session.calls]
    valid = [call for call in calls if call.valid]
    asked = sum(call.whole + call.partial for call in calls)
    return [
        name,
        f"{len(calls):,}",
        str(sum(call.differences == ["crash"] for call in calls)),
        str(len(calls) - len(valid)),
        share(sum(call.exact for call in valid), len(valid)),
        share(sum(call.differences in ([], ["layout"]) for call in valid), len(valid)),
        share(sum(not call.exact and call.cause not in ("not asked", "crash") for call in valid), len(valid)),
        share(sum(call.whole + call.partial == 0 for call in valid), len(valid)),
        f"{asked / max(1, len(calls)):.2f}",
        str(sum(call.partial > 0 for call in calls)),
        str(sum(call.forbidden > 0 for call in valid)),
    ]


def mutated_row(name: str, done: Sequence[Replayed]) -> list[str]:
    pairs = [pair for session in done for pair in zip(session.calls, session.with_mutations, strict=True)]
    calls = [call for _, call in pairs]
    fixed = [call.mutation.corrected for call in calls if call.mutation and call.mutation.fixed]
    free = [call.mutation.corrected for call in calls if call.mutation and not call.mutation.fixed]
    others = [call.exact for plain, call in pairs if call.mutation is None and plain.exact and not call.misled]
    repeated = sum(call.repeated for call in calls)
    numbers = sum(call.fixed for call in calls), sum(call.free for call in calls)
    held = sum(
        number * sum(corrected) / max(1, len(corrected))
        for number, corrected in zip(numbers, (fixed, free), strict=True)
    )
    return [
        name, str(len(fixed)), share(sum(fixed), len(fixed)), str(len(free)), share(sum(free), len(free)),
        str(len(others)), share(others.count(False), len(others)),
        str(repeated), share(sum(numbers), repeated), share(held, repeated),
    ]  # fmt: skip


def share(amount: float, whole: int) -> str:
    return f"{100 * amount / whole:.1f} %" if whole else "-"


def complaints(provenances: Iterable[Mapping[str, Json]]) -> Iterable[str]:
    """Yield the reasons of rejected replies and of crashes, without their values."""
    for provenance in provenances:
        for attempt in provenance.get("rejected", ())[:1]:
            yield f"rejected: {attempt['problems'][0][:90]}"
        if "crash" in provenance:
            yield f"crash: {provenance['crash'][:90]}"


def print_causes(title: str, numbers: Counter[str]) -> None:
    print(f"\n{title}:", *(f"  {number:6,}  {name}" for name, number in numbers.most_common(CAUSES_SHOWN)), sep="\n")


def write_details(file: Path, done: Iterable[Replayed]) -> None:
    """Write a line for each call."""
    with file.open("w", encoding="utf-8") as stream:
        for session in done:
            for call in (*session.calls, *session.with_mutations):
                stream.write(json.dumps(asdict(call), ensure_ascii=False) + "\n")


def main(arguments: argparse.Namespace) -> int:
    """Replay all sessions and print the report. Return 1 if a call crashed."""
    servers = arguments.servers.split(",") if arguments.servers else ["*"]
    try:
        sessions = read_sessions(arguments.folder, servers, limit=arguments.limit)
    except McpSimError as error:
        sys.exit(str(error))
    tasks = [(session, arguments.mutate, arguments.plain) for session in sessions]
    if arguments.jobs > 1:
        with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
            done = list(pool.map(replay, tasks))
    else:
        done = list(map(replay, tasks))
    report(done, mutate=arguments.mutate)
    if arguments.details:
        write_details(arguments.details, done)
    return 1 if any(call.differences == ["crash"] for session in done for call in session.calls) else 0


# the endpoint ---------------------------------------------------------------------------------------------------------

MODEL = "oracle"
UNKNOWN = "unknown"
TEXTS = ("text", "result", "content", "output", "response")
"""Names of a field that may be the whole text of an answer."""

WHOLE = frozenset({"isError", "content", "structuredContent"})
"""Names of fields that only a question about the whole answer has."""


# replies --------------------------------------------------------------------------------------------------------------


def whole_reply(answer: Answer, *, plain: bool = False, is_declared: bool = True) -> str:
    """Return the reply of a model that means this answer. Without `plain`, a text is between tags.

    `is_declared`: the tool has an outputSchema. Without one, structured content needs the form of a whole result.
    """
    if "error" in answer:
        return json.dumps({"error": answer["error"]}, ensure_ascii=False)
    result = answer["result"]
    text, structured, is_error = only_text(result), result.get("structuredContent"), bool(result.get("isError"))
    if text is not None and structured is None:
        if is_error:
            return json.dumps({"isError": True, "text": text}, ensure_ascii=False)
        return text if plain else f"<predicted_observation>{text}</predicted_observation>"
    if text is not None and not is_error and is_declared:
        if same(parsed(text), structured):
            return text
        if wraps(structured, text):
            return json.dumps(structured, ensure_ascii=False)
    known: Answer = {} if structured is None else {"structuredContent": structured}
    return json.dumps({"content": result["content"], **known, "isError": is_error}, ensure_ascii=False)


def asks_for_whole(schema: Json, output_schema: Json, answer: Answer) -> bool:
    """Whether the schema of a request is one for the whole answer of a tool, and not for some fields or for changes."""
    if schema is None or fits(data_of(answer), schema):
        return True
    promised = set(output_schema.get("properties", {})) if output_schema else set[str]()
    for branch in branches(schema, schema):
        names = set(branch.get("properties", {}))
        if names & WHOLE or (promised and names == promised) or branch.get("type") == "string":
            return True
    return False


def branches(schema: Json, root: Json) -> Iterator[dict[str, Json]]:
    """Yield the alternatives of a schema."""
    if not isinstance(schema, dict):
        return
    given: dict[str, Json] = schema  # pyright: ignore[reportUnknownVariableType] (any JSON)
    reference = given.get("$ref", "")
    if reference.startswith("#/$defs/"):
        yield from branches(root["$defs"].get(reference.removeprefix("#/$defs/")), root)
    alternatives = [*given.get("anyOf", ()), *given.get("oneOf", ()), *given.get("allOf", ())]
    for alternative in alternatives:
        yield from branches(alternative, root)
    if not alternatives:
        yield given


def first_branch(schema: Json, root: Json) -> dict[str, Json]:
    return next(branches(schema, root), dict[str, Json]())


def cut_reply(answer: Answer, schema: Json) -> str:
    """Return the fields of an answer that a schema asks for, by name; what the answer lacks is null or unknown."""
    return json.dumps(_cut(answer, schema, schema), ensure_ascii=False)


def _cut(answer: Answer, schema: Json, root: Json) -> Json:
    branch = first_branch(schema, root)
    if "properties" not in branch:
        return _unknown(schema, root)
    return {
        name: _found(answer, name, {**inner, "$defs": root.get("$defs", {})}, root)
        for name, inner in branch["properties"].items()
    }


def _found(answer: Answer, name: str, schema: Json, root: Json) -> Json:
    """Return the value of a field of this name that fits, nearest to the top, by default a placeholder."""
    text = only_text(answer.get("result", {}))
    candidates = [*_values(data_of(answer), name.rpartition(".")[2]), *([text] if name in TEXTS and text else [])]
    fitting = [value for value in candidates if fits(value, schema)]
    return fitting[0] if fitting else _unknown(schema, root)


def _values(data: Json, name: str) -> Iterator[Json]:
    """Yield the values of all fields of this name, those near the top first."""
    waiting = deque([data])
    while waiting:
        value = waiting.popleft()
        if isinstance(value, dict):
            if name in value:
                yield value[name]
            waiting.extend(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] (any JSON)
        elif isinstance(value, list):
            waiting.extend(value)  # pyright: ignore[reportUnknownArgumentType] (any JSON)


def _unknown(schema: Json, root: Json) -> Json:
    """Return a value under a schema that says as little as possible."""
    least: tuple[Json, ...] = (None, UNKNOWN, [], {}, 0, False)
    for value in least:
        if fits(value, {**schema, "$defs": root.get("$defs", {})}):
            return value
    branch = first_branch(schema, root)
    if "const" in branch or "enum" in branch:
        return branch.get("const", next(iter(branch.get("enum", ())), None))
    match branch.get("type"):
        case "object":
            parts = branch.get("properties", {})
            return {name: _unknown(parts.get(name, {}), root) for name in branch.get("required", ())}
        case "array":
            return [_unknown(branch.get("items", {}), root)] * branch.get("minItems", 0)
        case "integer" | "number":
            return branch.get("minimum", 0)
        case _:
            return UNKNOWN.ljust(branch.get("minLength", 0), ".")[: branch.get("maxLength")]


# the endpoint ---------------------------------------------------------------------------------------------------------


@dataclass
class Slot:
    """A session's place at the endpoint: the answer to the call that is made now, and the requests about it."""

    base_url: str
    plain: bool = False
    answer: Answer = field(default_factory=dict[str, Any])
    output_schema: Json = None
    whole: int = 0
    """Requests for the whole answer."""
    partial: int = 0
    """Requests for some fields, or for changes."""
    forbidden: int = 0
    """Requests whose schema does not allow the answer."""
    replies: list[str] = field(default_factory=list[str])

    def next_call(self, answer: Answer, output_schema: Json) -> None:
        """Set the answer to the next call."""
        self.answer, self.output_schema = answer, output_schema
        self.whole = self.partial = self.forbidden = 0
        self.replies = []

    def reply(self, schema: Json) -> str:
        """Return the reply to a request with this schema, and note it."""
        self.replies.append(self._reply(schema))
        return self.replies[-1]

    def _reply(self, schema: Json) -> str:
        if not asks_for_whole(schema, self.output_schema, self.answer):
            self.partial += 1
            return cut_reply(self.answer, schema)
        self.whole += 1
        reply = whole_reply(self.answer, plain=self.plain, is_declared=self.output_schema is not None)
        if schema is not None and not fits(parsed(reply), schema):
            self.forbidden += 1
        return reply


class Oracle(ThreadingHTTPServer):
    """The endpoint of a process, in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.slots = dict[str, Slot]()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def open(self, *, plain: bool = False) -> Slot:
        """Return a new place with an address of its own."""
        name = f"session-{len(self.slots) + 1}"
        self.slots[name] = Slot(f"http://127.0.0.1:{self.server_address[1]}/{name}/v1", plain)
        return self.slots[name]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet per response
    server: Oracle  # pyright: ignore[reportIncompatibleVariableOverride] (narrower)

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]})

    def do_POST(self) -> None:
        body: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
        form: Json = body.get("response_format") or {}
        schema = form.get("schema") or form.get("json_schema", {}).get("schema")
        reply = self.server.slots[self.path.split("/")[1]].reply(schema)
        choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        self._send({"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]})

    def _send(self, value: Json) -> None:
        sent = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name of the base class)
        """Log nothing."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="recorded sessions")
    parser.add_argument("--mutate", action="store_true", help="make each session again with altered answers")
    parser.add_argument("--plain", action="store_true", help="send texts without tags")
    parser.add_argument("--servers", help="the names of servers, with commas; default all")
    parser.add_argument("--limit", type=int, help="the most sessions of each server")
    parser.add_argument("--details", type=Path, help="a file for a line of JSON per call")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    sys.exit(main(parser.parse_args()))
