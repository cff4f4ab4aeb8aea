"""An endpoint like that of a language model, which always answers what a real server answered.

It has an address for each session, and is given the answer before each call. So it does not read prompts.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from answers import Json, data_of, fits, only_text, parsed, same, wraps

from mcp_sim.recordings import Answer

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
    given: dict[str, Json] = schema  # pyright: ignore[reportUnknownVariableType]
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
        name: _found(answer, name, {**part, "$defs": root.get("$defs", {})}, root)
        for name, part in branch["properties"].items()
    }


def _found(answer: Answer, name: str, schema: Json, root: Json) -> Json:
    """Return the value of a field of this name that fits, nearest to the top; a placeholder if there is none."""
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
            waiting.extend(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif isinstance(value, list):
            waiting.extend(value)  # pyright: ignore[reportUnknownArgumentType]


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
    server: Oracle  # pyright: ignore[reportIncompatibleVariableOverride]

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
