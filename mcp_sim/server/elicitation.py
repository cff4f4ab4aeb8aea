"""Questions of tools and prompts to the client: elicitation, sampling, roots.

In protocols with a handshake (up to 2025-11-25) the server sends requests. In the sessionless protocol, the result of a
request holds the questions, and the client repeats the request with the answers. Earlier answers travel along, signed.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from pydantic import BaseModel

from mcp_sim.server.protocol import Context, is_modern
from mcp_sim.types import UNABLE, Json, Record
from mcp_sim.types.errors import InputRequired
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical, decode
from mcp_sim.types.surface import Ask, Capability, Round, fill_slots

_FORMS: Mapping[str, tuple[Any, type[BaseModel]]] = {
    "roots/list": (ListRootsRequest, ListRootsResult),
    "sampling/createMessage": (CreateMessageRequest, CreateMessageResultWithTools),
    "elicitation/create": (ElicitRequest, ElicitResult),
}
"""The SDK's forms of questions and of their answers."""

SIGNATURE_BYTES = 32
"""Bytes of a signature."""


@frozen
class AskedRequest:
    """The request that a state belongs to. A state of another request is refused."""

    method: str
    name: str
    arguments: Record


class Elicitation:
    """Asks clients questions. `key` signs earlier answers."""

    def __init__(self, key: bytes) -> None:
        self._key = sha256(key).digest()

    async def answers(self, ctx: Context, rounds: Sequence[Round], asked: AskedRequest) -> dict[str, Json]:
        """Return the answers of the client by question. Raises `InputRequired`, or `MCPError` for an invalid answer.

        Stops at the first question that is declined, or that the client is UNABLE to answer.
        """
        if is_modern(ctx.protocol_version):
            return self._given(ctx, rounds, asked)
        answers = dict[str, Json]()
        for name, ask in _questions(rounds, ctx.session.client_capabilities):
            answer: Json = None
            if supports(ctx.session.client_capabilities, ask.needs):
                params = fill_slots(ask.params, {**asked.arguments, **answers})
                answer = await send_question(ctx, ask.method, params)
            answers[name] = UNABLE if answer is None else _checked(name, ask, answer)
            if ask.is_refused(answers[name]):
                break
        return answers

    def _given(self, ctx: Context, rounds: Sequence[Round], asked: AskedRequest) -> dict[str, Json]:
        """Return the answers that came with this request and earlier ones."""
        params = ctx.params or {}
        capabilities = ctx.session.client_capabilities
        given = {**self._verified(params.get("requestState"), asked), **as_object(params.get("inputResponses"))}
        answers = dict[str, Json]()
        for questions in rounds:
            open_ones = dict[str, Json]()
            for name, ask in _questions([questions], capabilities):
                if not supports(capabilities, ask.needs):
                    return {**answers, name: UNABLE}
                if name in given:
                    answers[name] = _checked(name, ask, given[name])
                else:
                    params = fill_slots(ask.params, {**asked.arguments, **answers})
                    open_ones[name] = {"method": ask.method, "params": params}
            if any(questions[name].is_refused(answer) for name, answer in answers.items() if name in questions):
                return answers
            if open_ones:
                text = canonical(answers).encode()
                state = urlsafe_b64encode(self._signature(text, asked) + text).decode()
                result = {"resultType": "input_required", "inputRequests": open_ones, "requestState": state}
                raise InputRequired(result)
        return answers

    def _verified(self, state: Json, asked: AskedRequest) -> Record:
        """Return the signed answers. Raises `MCPError` for an invalid signature, or one of another request."""
        if state is None:
            return {}
        try:
            data = urlsafe_b64decode(state.encode() if isinstance(state, str) else b"")
        except ValueError:
            data = b""
        if urlsafe_b64encode(data) != str(state).encode() or not hmac.compare_digest(
            data[:SIGNATURE_BYTES], self._signature(data[SIGNATURE_BYTES:], asked)
        ):
            raise MCPError(INVALID_PARAMS, "Invalid requestState")
        return as_object(decode(data[SIGNATURE_BYTES:]))

    def _signature(self, text: bytes, asked: AskedRequest) -> bytes:
        about = canonical([asked.method, asked.name, asked.arguments]).encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, sha256(about).digest() + text, "sha256")


def supports(capabilities: ClientCapabilities | None, capability: Capability) -> bool:
    """Whether the client declared a capability. An empty `elicitation` means forms."""
    if capabilities is None:
        return False
    elicitation = capabilities.elicitation
    match capability:
        case "elicitation":
            return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
        case "elicitation.url":
            return elicitation is not None and elicitation.url is not None
        case "sampling":
            return capabilities.sampling is not None
        case "roots":
            return capabilities.roots is not None


def complete_arguments(answers: Mapping[str, Json], known: Mapping[str, Any], arguments: Record) -> Record:
    """Return the arguments, completed by values that the user filled in for missing ones."""
    given = map(as_object, answers.values())
    contents = [as_object(answer.get("content")) for answer in given if answer.get("action") == "accept"]
    entered = {name: value for content in contents for name, value in content.items() if name in known}
    return {**entered, **arguments}


def _questions(rounds: Sequence[Round], capabilities: ClientCapabilities | None) -> Iterator[tuple[str, Ask]]:
    """Yield all questions in order, without optional ones that the client does not support."""
    for questions in rounds:
        for name, ask in questions.items():
            if not ask.optional or supports(capabilities, ask.needs):
                yield name, ask


async def send_question(ctx: Context, method: str, params: Json) -> Record | None:
    """Send a request to a client of a protocol with a handshake, and return its result; None for an error."""
    form, answer = _FORMS[method]
    request = form.model_validate({"method": method, "params": params or None}, by_name=False)
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        result = await ctx.session.send_request(request, answer, metadata=metadata)
    except MCPError:
        return None
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def _checked(name: str, ask: Ask, answer: Json) -> Json:
    """Return the answer. Raises `MCPError` if it does not fit the question."""
    body = as_object(answer)
    needed = {"elicitation/create": "action", "sampling/createMessage": "content", "roots/list": "roots"}[ask.method]
    if needed not in body:
        raise MCPError(INVALID_PARAMS, f"The answer to {name} has no {needed}")
    form = ask.params.get("requestedSchema")
    if form is not None and body["action"] == "accept":
        problems = Validator(form).problems(body.get("content", {}))
        if problems:
            raise MCPError(INVALID_PARAMS, f"The answer to {name} does not fit its form: {'; '.join(problems)}")
    return answer
