"""Tools as they are served, and the observations that an agent gets from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from inspect import cleandoc
from typing import Any, Final, Literal, Protocol, cast

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Json, Record, encode, indented

WRAPPER: Final = "result"
"""The only property of an outputSchema that MCP servers wrap around a value that is not an object."""

FASTMCP_META: Final = frozenset({"fastmcp", "_fastmcp"})
"""Keys in the `_meta` of tools by which versions of FastMCP mark them."""


@dataclass(slots=True)
class ToolResult:
    """An MCP result: ONE value, from which both text and structuredContent are rendered.

    A text that is alone under `result`, `content` or the like, as servers wrap a tool that returns text, is rendered
    bare.
    """

    value: Json
    form: Literal["structured", "json", "text", "blocks"] = "structured"
    """`structured`: the value as structuredContent, and its JSON as text. `json`: its JSON as text only. `text`: a
    string as text only. `blocks`: a list of MCP content blocks, passed on as they are."""
    is_error: bool = False
    text: str | None = None
    """Replaces the rendered text where the two differ on purpose."""
    blocks: tuple[Record, ...] | None = None
    """Replaces the rendered content, where the value is shown in several blocks or beside other ones."""
    meta: Record | None = None
    """The `_meta` that a real server put into its result."""
    is_indented: bool = False
    """Whether the JSON of the form `json` is indented by 2. A ledger holds the value only."""
    is_failure: bool = False
    """Whether it reports a failure without `isError`, as functions do that return what went wrong."""
    _encoded: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def with_value(self, value: Json) -> ToolResult:
        """Return the result with another value. JSON text keeps its layout, prose beside the value stays."""
        text = None if self.text is None else _with_layout(self.text, self.value, value)
        blocks = None if self.blocks is None else _with_blocks(self.blocks, self.value, value)
        return replace(self, value=value, text=text, blocks=blocks)

    def with_text(self, text: str) -> ToolResult:
        """Return the result with another text of its value, such as JSON in another layout.

        Structured content is shown with that text only if servers write such a layout, and not if it wraps a text.
        """
        if text == self.content[0]["text"]:
            return self
        is_usual = self.form != "structured" or (
            _wrapped_text(self.value) is None and _layout(text, self.value) is not None
        )
        return replace(self, text=text) if is_usual else self

    @property
    def data(self) -> Json:
        """The value, or the object or list that its only text is as JSON, as servers wrap what a function returns."""
        wrapped = _wrapped_text(self.value) if self.form == "structured" else None
        return self.value if wrapped is None else data_in(wrapped) or self.value

    def with_data(self, data: Json) -> ToolResult:
        """Return the result with other data, in the place and the layout that these have."""
        wrapped = _wrapped_text(self.value) if self.form == "structured" else None
        before = None if wrapped is None else data_in(wrapped)
        if wrapped is None or before is None:
            return self.with_value(data)
        [name] = cast("Record", self.value)
        text = _text_like(wrapped, before, data)
        return replace(self, value={name: text}, text=text if self.text == wrapped else self.text)

    @property
    def prose(self) -> str | None:
        """The text of a result that consists of a text for people only, also of a wrapped one; None for others."""
        block = _wrapped_block(self.value)
        text = self.value if self.form == "text" else None
        if self.form == "structured":
            text = _wrapped_text(self.value) if block is None else block["text"]
        if block is not None and text != self.content[0].get("text"):
            return None
        return None if text is None or data_in(text) is not None else text

    def with_prose(self, text: str) -> ToolResult:
        """Return the result with another text instead of its `prose`."""
        if self.form == "text":
            return replace(self, value=text)
        [name], block = cast("Record", self.value), _wrapped_block(self.value)
        if block is not None:
            return replace(self, value={name: [{**block, "text": text}]}, text=text, blocks=None)
        return self.with_value({name: text})

    @property
    def encoded(self) -> bytes:
        """The value as compact JSON. It is serialised once, for the wire and for the ledger."""
        if self._encoded is None:
            self._encoded = encode(self.value)
        return self._encoded

    @property
    def content(self) -> list[Record]:
        """The MCP content blocks: those given, or the value as one block of text."""
        if self.form == "blocks":
            return self.value
        if self.blocks is not None:
            return list(self.blocks)
        return [{"type": "text", "text": self.text if self.text is not None else self._rendered}]

    @property
    def _rendered(self) -> str:
        if self.form == "text":
            return self.value
        if self.is_indented and self.form == "json":
            return indented(self.value)
        wrapped = _wrapped_text(self.value) if self.form == "structured" else None
        return self.encoded.decode() if wrapped is None else wrapped


_WRAPPERS = ("result", "content", "text", "output", "response")
"""Names of the only property of a result whose value is a text."""


def _wrapped_text(value: Json) -> str | None:
    """Return the text in a result that consists of a text only; None for other results."""
    if not isinstance(value, dict) or len(cast("Record", value)) != 1:
        return None
    name, text = next(iter(cast("Record", value).items()))
    return text if name in _WRAPPERS and isinstance(text, str) else None


def _wrapped_values(value: Json) -> list[Json]:
    """Return the only value in a result that wraps one, alone in a list; an empty list for other results."""
    parts = [*cast("Record", value).items()] if isinstance(value, dict) else []
    return [inner for name, inner in parts if len(parts) == 1 and name in _WRAPPERS]


def _wrapped_block(value: Json) -> Record | None:
    """Return the block of text in a result that consists of one, as servers wrap a tool that returns blocks."""
    parts = [*cast("Record", value).values()] if isinstance(value, dict) else []
    blocks = cast("list[Json]", parts[0]) if len(parts) == 1 and isinstance(parts[0], list) else []
    block = cast("Record", blocks[0]) if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    return block if block.get("type") == "text" and isinstance(block.get("text"), str) else None


def data_in(text: str) -> Json:
    """Return the object or list that a text is as JSON; None for other texts."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


_LAYOUTS: tuple[Mapping[str, Any], ...] = (
    {"indent": 2},
    {"separators": (", ", ": ")},
    {"indent": 4},
    {"separators": (",", ":")},
    {"indent": "\t"},
    {"indent": 2, "sort_keys": True},
)
"""How servers write JSON."""


def _with_layout(text: str, value: Json, new: Json) -> str | None:
    """Return another value in the layout of a text with this value, or what it wraps; the text itself if it is prose.

    None if the layout is unknown.
    """
    if isinstance(value, str):
        return new if isinstance(new, str) else None
    try:
        shown = json.loads(text)
    except ValueError:
        return text
    if shown != value:
        inner, after = _wrapped_values(value), _wrapped_values(new)
        return _with_layout(text, inner[0], after[0]) if after and inner == [shown] else text
    layout = _layout(text, value)
    return None if layout is None else json.dumps(new, **layout)


def _with_blocks(blocks: tuple[Record, ...], value: Json, new: Json) -> tuple[Record, ...]:
    """Return blocks that show another value instead of this one: as a whole, or an item of its only list in each."""
    before, after = _only_list(value), _only_list(new)
    if after is not None and before and len(before) == len(blocks) and all(map(_shows, blocks, before)):
        return tuple({**blocks[0], "text": _text_like(blocks[0]["text"], before[0], item)} for item in after)
    return tuple(
        {**block, "text": _text_like(block["text"], value, new)} if "text" in block else block for block in blocks
    )


def _only_list(value: Json) -> list[Json] | None:
    """Return the list that is a value, or the only property of one, as servers wrap it."""
    fields = [*cast("Record", value).values()] if isinstance(value, dict) else [value]
    inner: Json = fields[0] if len(fields) == 1 else None
    return cast("list[Json]", inner) if isinstance(inner, list) else None


def _shows(block: Record, item: Json) -> bool:
    """Whether a block of text is an item, as it is or as JSON."""
    try:
        return "text" in block and (block["text"] == item or json.loads(block["text"]) == item)
    except ValueError:
        return False


def _text_like(text: str, value: Json, new: Json) -> str:
    """Return another value as a text shows this one."""
    return _with_layout(text, value, new) or encode(new).decode()


def _layout(text: str, value: Json) -> Mapping[str, Any] | None:
    """Return how a text writes a value as JSON; None if that is unusual."""
    layouts: Iterator[dict[str, Any]] = (
        {"ensure_ascii": ascii_only, **layout} for layout in _LAYOUTS for ascii_only in (False, True)
    )
    return next((layout for layout in layouts if json.dumps(value, **layout) == text.strip()), None)


@frozen
class RpcError:
    """A JSON-RPC error instead of a result."""

    code: int
    message: str
    data: Json = None


@frozen
class BrokenDelivery:
    """A delivery without a proper answer."""

    how: Literal["no_answer", "closed", "partial", "http", "garbled"]
    """`no_answer`: it hangs. `closed`: the connection is closed. `partial`: the message is cut short. `http`: an HTTP
    status without JSON-RPC. `garbled`: `body` is sent instead of the message."""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    ends_session: bool = False
    """Whether the session of an older client ends with it."""


_DELIVERIES = {
    "no_answer": "the request timed out",
    "closed": "the connection was closed",
    "partial": "the connection was closed",
    "garbled": "the server sent no valid answer",
    "http": "the server answered with HTTP status {status}",
}


@dataclass(slots=True)
class Observation:
    """What the agent gets for a call."""

    body: ToolResult | RpcError | BrokenDelivery
    delay: timedelta = timedelta(0)
    """How long the answer takes, in world time."""
    notifications: tuple[Record, ...] = ()
    """Notifications that are sent in the course of the call: `method`, `params`, and `at_ms`."""
    has_slots: bool = False
    """Whether it is a failure whose template may have slots for arguments of the call, still to be filled."""

    @property
    def ok(self) -> bool:
        """Whether it is a success. A result may report a failure without `isError`."""
        return not self.is_error and not getattr(self.body, "is_failure", False)

    @property
    def is_error(self) -> bool:
        """Whether the agent's client sees an error."""
        return not isinstance(self.body, ToolResult) or self.body.is_error

    @property
    def text(self) -> str:
        """What a client shows to the model: the texts of the result, or a sentence about the failure."""
        if isinstance(self.body, RpcError):
            return f"Error: {self.body.message}"
        if isinstance(self.body, BrokenDelivery):
            return f"Error: {_DELIVERIES[self.body.how].format(status=self.body.status)}"
        return "\n".join(
            block["text"] if block.get("type") == "text" else f"[{block.get('type')}]" for block in self.body.content
        )


class FailureRenderer(Protocol):
    """Renders a failure in the style of a vendor."""

    def __call__(self, kind: str, message: str, slots: Mapping[str, Json]) -> Observation:
        """Return the observation of a failure; the parameters are those of `Tool.failure`."""
        ...


def render_plain_failure(kind: str, message: str, slots: Mapping[str, Json]) -> Observation:  # noqa: ARG001 (a FailureRenderer)
    """Render a failure as most MCP servers do: isError, with the message as text."""
    return Observation(ToolResult(message, form="text", is_error=True))


@frozen
class Tool:
    """A tool as it is served."""

    id: str
    """Unique in a scenario: the name, or `server/name` where several servers are served."""
    server: str
    definition: Record
    """Its entry in tools/list, untouched."""
    render_failure: FailureRenderer = render_plain_failure
    prose: bool = False
    """Whether results whose form nothing declares are worded in sentences, and not JSON text."""

    @property
    def name(self) -> str:
        return self.definition["name"]

    @property
    def input_schema(self) -> Record:
        return self.definition["inputSchema"]

    @property
    def output_schema(self) -> Record | None:
        return self.definition.get("outputSchema")

    @property
    def description(self) -> str:
        """The description without the indentation of a docstring, which FastMCP serves as it is."""
        return cleandoc(self.definition.get("description") or "")

    @property
    def annotations(self) -> Record:
        return self.definition.get("annotations") or {}

    def success(self, value: Json, place: str | None = None) -> Observation:
        """Return a result: as the text in the only property `place`, or as a whole.

        Results are structured only if the tool has an outputSchema. JSON in a text is indented, as most servers and the
        SDK write it. FastMCP, which marks its tools, writes compact JSON.
        """
        if place is not None:
            return Observation(ToolResult({place: value if isinstance(value, str) else indented(value)}))
        if isinstance(value, str):
            return Observation(ToolResult(value, form="text"))
        if self.output_schema is not None:
            return Observation(self.shown(ToolResult(value)))
        meta = self.definition.get("_meta")
        is_fastmcp = isinstance(meta, dict) and not FASTMCP_META.isdisjoint(cast("Record", meta))
        result = ToolResult(value, "json", is_indented=not is_fastmcp)
        return Observation(in_blocks(result, value) if isinstance(value, list) and self.is_of_sdk else result)

    def shown(self, result: ToolResult) -> ToolResult:
        """Return a structured result whose content shows its value as the framework does that the server is written in.

        FastMCP shows what it wraps, also if the value has the wrapper.
        """
        value: Json = result.value
        whole = cast("Record", value) if isinstance(value, dict) else {}
        bare: Json = whole[WRAPPER] if [*whole] == [WRAPPER] else cast("Json", value)
        if self.is_of_sdk:
            return in_blocks(result, bare)
        if isinstance(bare, str) or not (self.output_schema or {}).get("x-fastmcp-wrap-result"):
            return result
        return replace(result, blocks=()) if bare in (None, []) else replace(result, text=encode(bare).decode())

    @property
    def is_of_sdk(self) -> bool:
        """Whether it is a function that the Python SDK has described."""
        title = str(self.input_schema.get("title", ""))
        # The SDK names the model of a function `get_taskArguments`; other generators begin with a capital letter.
        return title.endswith("Arguments") and not title[0].isupper()

    def failure(self, kind: str, message: str, /, **slots: Json) -> Observation:
        """Return an error observation in this tool's own style.

        `kind` (`not_found`, `invalid`, `timeout`, `rate_limited`, ...) chooses the vendor's template, which is filled
        from `slots`. Without one, the agent reads `message`.
        """
        return self.render_failure(kind, message, slots)


def in_blocks(result: ToolResult, value: Json) -> ToolResult:
    """Return a result that shows a value as the Python SDK does: with indented JSON, and a block for each item."""
    if isinstance(value, str):
        return result
    blocks = tuple(_blocks(value))
    return replace(result, text=blocks[0]["text"]) if isinstance(value, dict) else replace(result, blocks=blocks)


def _blocks(value: Json) -> Iterator[Record]:
    """Yield the blocks in which the Python SDK shows a value. Lists within lists have no blocks of their own."""
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _blocks(item)
    elif value is not None:
        text: Any = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        yield {"type": "text", "text": text}


def in_reach(globs: tuple[str, ...], tool: Tool) -> bool:
    """Whether the globs match this tool by its id or its bare name. No globs match every tool."""
    return not globs or any(fnmatchcase(tool.id, glob) or fnmatchcase(tool.name, glob) for glob in globs)
