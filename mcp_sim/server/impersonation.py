"""The SDK server that presents one server of a scenario; nothing of mcp-sim is visible to its clients.

Calls and lists are answered in a middleware, as plain JSON: the SDK validates and copies every result, which costs as
much as the call itself. Other requests (malformed ones, calls before the handshake) are answered by the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, NoReturn, TypeVar, cast

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ServerEvent
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import x_mcp_header_map
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    Icon,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ServerCapabilities,
    ServerTasksCapability,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from mcp_sim.server import content
from mcp_sim.server.clients import IDEMPOTENCY_KEY, CallingClient, passed_on
from mcp_sim.server.elicitation import AskedRequest, Elicitation, complete_arguments
from mcp_sim.server.notifications import Subscribers, send, wait_until_due
from mcp_sim.server.protocol import (
    UNINTERRUPTED,
    Break,
    Context,
    Splice,
    StagesOf,
    WorldOf,
    call_result,
    call_result_bytes,
    is_modern,
    listing,
)
from mcp_sim.server.surface import offers, page
from mcp_sim.server.tasks import CAPABILITY, ERA, METHODS, Tasks, check_way, support_of
from mcp_sim.types import BrokenDelivery, Json, Observation, Record, RpcError, ToolResult
from mcp_sim.types.errors import CRASH_CODE, Crash, InputRequired, UsageError
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import encode
from mcp_sim.types.programs import ProgramFunction
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.surface import NO_INTERACTION, ToolInteraction
from mcp_sim.world.idempotency import LONGEST_KEY, KeyReused
from mcp_sim.world.world import World

R = TypeVar("R")

logger = logging.getLogger(__name__)

PLAIN_KEYS = frozenset({"name", "arguments", "_meta"})
NOT_PASSED = frozenset({"_meta", "inputResponses", "requestState"})
"""The keys of a request that its client passes on."""


class Impersonation(Server[Any]):
    """A server of a scenario.

    `world_of` finds the world of a request, `caller_of` who sent it; `break_off` breaks deliveries.
    """

    def __init__(
        self,
        scenario: Scenario,
        name: str,
        world_of: WorldOf,
        break_off: Break,
        splice: Splice = lambda _: None,
        stages: StagesOf = lambda _: UNINTERRUPTED,
        caller_of: Callable[[Context], str] = lambda _: "",
    ) -> None:
        spec = scenario.servers[name]
        prefix = f"{name}/" if len(scenario.servers) > 1 else ""
        schemas = {tool: scenario.domain.tools[tool].input_schema for tool in spec.tools}
        super().__init__(
            spec.name,
            version=spec.version,
            title=spec.title,
            description=spec.description,
            instructions=spec.instructions,
            website_url=spec.website,
            icons=[Icon.model_validate(icon) for icon in spec.icons] or None,
            on_list_tools=_answering(ListToolsResult(tools=[])),
            on_subscriptions_listen=self._listen,
            get_tool_input_schema=lambda tool: schemas.get(prefix + tool),
        )
        self.add_request_handler("tools/call", CallToolRequestParams, self._call_as_parsed)
        self.middleware[:] = [self._answer]
        self._spec, self._name, self._prefix = spec, name, prefix
        self._world_of, self._break_off, self._splice, self._stages = world_of, break_off, splice, stages
        self._caller_of = caller_of
        self._stamp = encode({SERVER_INFO_META_KEY: self.server_info_stamp})
        self._interactions = {tool: scenario.interactions.get(tool, NO_INTERACTION) for tool in spec.tools}
        self._task_support, self._tasks = support_of(scenario, name), Tasks()
        self._plain_tools = frozenset(
            tool
            for tool in spec.tools
            if not self._interactions[tool].asks
            and not x_mcp_header_map(schemas[tool])
            and self._task_support.get(tool) != "required"
        )
        """The tools that ask their user nothing, need no task, and whose arguments no header mirrors."""
        self._domain = scenario.domain
        self._passes_on = any(entry.world_model.answers_requests for entry in scenario.world_models)
        self._notifies = any(entry.enabled and entry.perturbation.notifies() for entry in scenario.perturbations)
        self._elicitation = Elicitation(f"{scenario.sha256}/{name}".encode())
        self._subscribers = Subscribers(self._watched_contents)
        self._register_handlers(offers(spec, scenario.interactions))

    def _register_handlers(self, offered: Collection[str]) -> None:
        """Register handlers for what the server has. The SDK refuses methods without a handler."""
        if "resources" in offered:
            self.add_request_handler(
                "resources/list", PaginatedRequestParams, _answering(ListResourcesResult(resources=[]))
            )
            no_templates = ListResourceTemplatesResult(resource_templates=[])
            self.add_request_handler("resources/templates/list", PaginatedRequestParams, _answering(no_templates))
            self.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
            self.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
            self.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        if "prompts" in offered:
            self.add_request_handler("prompts/list", PaginatedRequestParams, _answering(ListPromptsResult(prompts=[])))
            self.add_request_handler("prompts/get", GetPromptRequestParams, self._get_prompt)
        if "completions" in offered:
            self.add_request_handler("completion/complete", CompleteRequestParams, self._complete)
        if "logging" in offered:
            self.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_level)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the SDK's options, with the announcement that lists may change."""
        options = notification_options or NotificationOptions(
            tools_changed=True, prompts_changed=True, resources_changed=True
        )
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    def get_capabilities(self, *given: Any, protocol_version: str | None = None, **options: Any) -> ServerCapabilities:
        """Return the SDK's capabilities, with tasks where a tool may be called as one."""
        shown = super().get_capabilities(*given, protocol_version=protocol_version, **options)
        if self._task_support and (protocol_version is None or not is_modern(protocol_version)):
            shown.tasks = ServerTasksCapability.model_validate(CAPABILITY)
        return shown

    @property
    def sends_during_calls(self) -> bool:
        """Whether calls may send messages before their answer. If not, responses need no event stream."""
        messages = (interaction.asks or interaction.notices for interaction in self._interactions.values())
        return self._notifies or self._passes_on or any(messages) or any(prompt.asks for prompt in self._spec.prompts)

    async def publish(self, world: World, event: ServerEvent) -> None:
        await self._subscribers.publish(world, event)

    async def _listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        return await self._subscribers.listen(ctx, await self._world_of(ctx), params)

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a request. Unexpected exceptions are logged and hidden from the client."""
        try:
            if self._task_support and ctx.protocol_version == ERA:
                answer = await self._as_task(ctx)
                if answer is not None:
                    return answer
            match ctx.method:
                case "tools/call" if _is_plain(ctx):
                    params = cast("Mapping[str, Any]", ctx.params)
                    return await self._call(ctx, params["name"], params.get("arguments"), is_plain=True)
                case "initialize":
                    welcome = cast("Record", await call_next(ctx))
                    if welcome["protocolVersion"] != ERA:  # other protocols lack tasks
                        able = {name: about for name, about in welcome["capabilities"].items() if name != "tasks"}
                        welcome = {**welcome, "capabilities": able}
                    return welcome
                case "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list":
                    return await self._list(ctx, call_next)
                case _:
                    return await call_next(ctx)
        except (MCPError, ValidationError):
            raise
        except Exception:
            logger.exception("%s failed", ctx.method)
            raise MCPError(INTERNAL_ERROR, "Internal error") from None

    async def _list(self, ctx: Context, call_next: CallNext) -> Record:
        """Return the SDK's envelope around the definitions as captured."""
        envelope = cast("Record", await call_next(ctx))
        world = await self._world_of(ctx)
        self._remember_world(ctx, world)
        passed = None if ctx.method == "tools/list" else await self._passed(ctx, world)
        if passed is not None:
            return {**envelope, **passed}
        name, definitions = self._listed(ctx, world)
        try:
            return {**envelope, **page(name, definitions, (ctx.params or {}).get("cursor"), self._spec.page_size)}
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    def _listed(self, ctx: Context, world: World) -> tuple[str, list[Record]]:
        """Return the name and the definitions of a list."""
        match ctx.method:
            case "tools/list":
                return "tools", listing(world.catalogue(self._name), ctx.protocol_version)
            case "prompts/list":
                return "prompts", [prompt.definition for prompt in self._spec.prompts]
            case "resources/list":
                return "resources", [
                    resource.definition for resource in self._spec.resources if not resource.is_template
                ]
            case _:
                return "resourceTemplates", [
                    resource.definition for resource in self._spec.resources if resource.is_template
                ]

    # calls

    def call_at_once(
        self, world: World, name: str, arguments: Record, caller: str, connection: Connection | None
    ) -> bytes | None:
        """Answer a call of the sessionless protocol, or of a connection, without waiting; return its result as JSON.

        None if it takes the usual way; then it was not made. Raises `MCPError`.
        """
        tool = self._prefix + name
        # Subscribers are notified before the answer, which may have to wait for them.
        if tool not in self._plain_tools or self._subscribers.are_in(world):
            return None
        if connection is not None:
            self._subscribers.peer_of(connection, world)
        try:
            observation = world.call_at_once(tool, arguments, caller)
            if observation is None:
                return None
            body = observation.body
            assert isinstance(body, ToolResult)
            version = LATEST_MODERN_VERSION if connection is None else connection.protocol_version
            return call_result_bytes(body, version, self._stamp)
        except Crash:
            raise _crashed() from None
        except Exception:
            logger.exception("tools/call failed")
            raise MCPError(INTERNAL_ERROR, "Internal error") from None

    async def _as_task(self, ctx: Context) -> Record | None:
        """Answer a call as a task, or a request about tasks; None for other requests. Raises `MCPError`."""
        params = as_object(ctx.params)
        world, caller = await self._world_of(ctx), self._caller_of(ctx)
        if ctx.method in METHODS:
            return await self._tasks.answer(world, caller, ctx.method, params)
        name = params.get("name")
        tool = f"{self._prefix}{name}"
        if ctx.method != "tools/call" or tool not in self._interactions:
            return None
        options = params.get("task")  # some clients write null for what they leave out
        check_way(self._task_support.get(tool), is_task=options is not None)
        if options is None:
            return None
        if not isinstance(options, dict):
            raise MCPError(INVALID_PARAMS, "The options of a task are an object")
        self._remember_world(ctx, world)
        observation = await self._observed(ctx, world, str(name), as_object(params.get("arguments")))
        if isinstance(observation.body, BrokenDelivery):
            await self._break_delivery(ctx, observation.body)
        try:
            result = self._delivered(ctx, observation.body, is_plain=False)
        except MCPError as error:
            result = error
        delay = world.clock.wait_seconds(observation.delay)
        return self._tasks.create(world, caller, result, delay, options)

    async def _call_as_parsed(self, ctx: Context, params: CallToolRequestParams) -> Record:
        return await self._call(ctx, params.name, params.arguments, is_plain=False)

    async def _call(self, ctx: Context, name: str, arguments: Record | None, *, is_plain: bool) -> Record:
        world = await self._world_of(ctx)
        self._remember_world(ctx, world)
        try:
            observation = await self._observed(ctx, world, name, arguments or {})
        except InputRequired as questions:
            return self._stamped(ctx, questions.result)
        if observation.delay or observation.notifications:
            with self._stages(ctx).delayed():
                await wait_until_due(ctx, world, self._subscribers, observation)
        await self._subscribers.notify_changed(world)
        if isinstance(observation.body, BrokenDelivery):
            await self._break_delivery(ctx, observation.body)
        return self._delivered(ctx, observation.body, is_plain=is_plain)

    async def _observed(self, ctx: Context, world: World, name: str, given: Record) -> Observation:
        """Return what the world answers to a call. Raises `InputRequired` for questions to the client."""
        tool, answers = self._prefix + name, dict[str, Json]()
        interaction = self._interactions.get(tool, NO_INTERACTION)
        if interaction.asks:
            given, answers = await self._asked(ctx, interaction, tool, given)
        meta: Record = (ctx.params or {}).get("_meta") or {}
        key: Json = meta.get(IDEMPOTENCY_KEY)
        if key is not None and not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
            raise MCPError(INVALID_PARAMS, f"An idempotency key is a string of 1 to {LONGEST_KEY} characters")
        with self._stages(ctx).calling():
            client = self._client(ctx, world) if self._passes_on else None
            try:
                return await world.call(tool, given, key, answers, self._caller_of(ctx), client)
            except KeyReused as error:
                raise MCPError(INVALID_PARAMS, str(error)) from None
            except UsageError:
                raise MCPError(INVALID_PARAMS, "Invalid arguments: not finite numbers, or nested too deeply") from None
            except Crash:
                raise _crashed() from None

    async def _asked(
        self, ctx: Context, interaction: ToolInteraction, tool: str, given: Record
    ) -> tuple[Record, Record]:
        """Return the arguments completed by the user, and all answers. Invalid calls raise no questions."""
        schema = self._domain.tools[tool].input_schema
        # Real servers validate first: a user is not asked about a call that cannot be made.
        if not Validator(schema).is_valid(given) or interaction.failed_check(given) is not None:
            return given, {}
        answers = await self._elicitation.answers(ctx, interaction.asks, AskedRequest("tools/call", tool, given))
        return complete_arguments(answers, properties(schema), given), answers

    async def _break_delivery(self, ctx: Context, broken: BrokenDelivery) -> NoReturn:
        """Break the delivery of an answer. Ends with the connection, or when the client cancels the request."""
        await self._break_off(ctx, broken)
        while True:
            # Never returns: the SDK would send a second answer.
            await anyio.sleep_forever()

    def _delivered(self, ctx: Context, body: ToolResult | RpcError, *, is_plain: bool) -> Record:
        if isinstance(body, RpcError):
            raise MCPError(body.code, body.message, body.data)
        take = self._splice(ctx) if is_plain else None  # the SDK validates other results itself
        if take is None:
            return self._stamped(ctx, call_result(body, ctx.protocol_version))
        take(call_result_bytes(body, ctx.protocol_version, self._stamp))
        return {}

    def _stamped(self, ctx: Context, result: Record) -> Record:
        if not is_modern(ctx.protocol_version):
            return result
        return {**result, "_meta": {**result.get("_meta", {}), SERVER_INFO_META_KEY: self.server_info_stamp}}

    def _remember_world(self, ctx: Context, world: World) -> None:
        """Remember the world of a connection; sessionless requests are left out."""
        if not is_modern(ctx.protocol_version):
            self._subscribers.peer(ctx, world)

    # resources, prompts, completion, logging

    def _client(self, ctx: Context, world: World) -> CallingClient:
        """Return the client of a request, for world models that pass it on."""
        level = "" if is_modern(ctx.protocol_version) else self._subscribers.peer(ctx, world).level
        return CallingClient(ctx, level, partial(send, ctx, world, self._subscribers))

    async def _passed(self, ctx: Context, world: World) -> Record | None:
        """Return what a real server or a recording answers to a request; None if the tool spec does."""
        if not self._passes_on:
            return None
        params = {name: param for name, param in (ctx.params or {}).items() if name not in NOT_PASSED}
        try:
            answer = await world.request(self._name, ctx.method, params, self._client(ctx, world))
        except InputRequired as questions:
            return self._stamped(ctx, questions.result)
        except Crash as crash:
            logger.error("%s", crash)  # noqa: TRY400 (the message says it all)
            raise MCPError(CRASH_CODE, "The request could not be completed", {"mcp_sim": "crash"}) from None
        if answer is None:
            return None
        if "error" in answer:
            error = answer["error"]
            raise MCPError(error.get("code", 0), str(error.get("message", "")), error.get("data"))
        return passed_on(answer, ctx.protocol_version, {SERVER_INFO_META_KEY: self.server_info_stamp})

    async def _read(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult | Record:
        world = await self._world_of(ctx)
        passed = await self._passed(ctx, world)
        if passed is not None:
            return passed
        try:
            contents = await self._contents(world, params.uri, self._caller_of(ctx))
        except Crash:
            raise MCPError(CRASH_CODE, "The resource could not be read", {"mcp_sim": "crash"}) from None
        if contents is None or isinstance(contents, RpcError):
            raise content.read_error(contents, params.uri, ctx.protocol_version)
        return ReadResourceResult.model_validate({"contents": contents}, by_name=False)

    async def _contents(self, world: World, uri: str, caller: str = "") -> list[Record] | RpcError | None:
        """Return the current contents of a resource. Raises `Crash` if the program fails."""

        async def run(function: ProgramFunction, values: Mapping[str, str]) -> Record | RpcError | None:
            from mcp_sim.programs.backend import read_resource  # noqa: PLC0415 (only programs need it)

            return await read_resource(world, self._name, function, uri, values, caller)

        return await content.contents(self._spec, world.view, uri, run)

    async def _watched_contents(self, world: World, uri: str) -> list[Record] | RpcError | None:
        """Return what subscribers are notified of when it changes."""
        try:
            return await self._contents(world, uri)
        except Crash:
            return None

    async def _subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        world = await self._world_of(ctx)
        await self._subscribers.add(world, self._subscribers.peer(ctx, world).watch, params.uri)
        return EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        self._subscribers.peer(ctx, await self._world_of(ctx)).watch.seen.pop(params.uri, None)
        return EmptyResult()

    async def _get_prompt(self, ctx: Context, params: GetPromptRequestParams) -> GetPromptResult | Record:
        passed = await self._passed(ctx, await self._world_of(ctx))
        if passed is not None:
            return passed
        given: Record = dict(params.arguments or {})
        prompt = content.prompt(self._spec, params.name, given)
        try:
            answers = await self._elicitation.answers(ctx, prompt.asks, AskedRequest("prompts/get", params.name, given))
        except InputRequired as questions:
            return questions.result
        content.check_answers(prompt, answers)
        return GetPromptResult.model_validate(content.messages(prompt, {**given, **answers}), by_name=False)

    async def _complete(self, ctx: Context, params: CompleteRequestParams) -> CompleteResult | Record:
        world = await self._world_of(ctx)
        passed = await self._passed(ctx, world)
        if passed is not None:
            return passed
        return CompleteResult.model_validate(content.completion(self._spec, world.view, params), by_name=False)

    async def _set_level(self, ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
        self._subscribers.peer(ctx, await self._world_of(ctx)).level = params.level
        return EmptyResult()


def _crashed() -> MCPError:
    return MCPError(CRASH_CODE, "The tool call could not be completed", {"mcp_sim": "crash"})


def _answering(result: R) -> Callable[[Context, Any], Awaitable[R]]:
    """Return a handler whose answer does not depend on the request."""

    async def answer(_ctx: Context, _params: Any) -> R:
        return result

    return answer


def _is_plain(ctx: Context) -> bool:
    """Whether the SDK's validation would accept a call unchanged."""
    params = ctx.params
    if params is None or not params.keys() <= PLAIN_KEYS or not isinstance(params.get("name"), str):
        return False
    if not isinstance(params.get("arguments"), dict | None):
        return False
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return False
    if is_modern(ctx.protocol_version):
        return isinstance(cast("Record", meta).get(CLIENT_CAPABILITIES_META_KEY), dict)
    return ctx.session.client_params is not None
