"""Read and check resources, prompts, questions, notifications and content blocks of a tool spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel

from mcp_sim.spec.lint import check_declared_schema
from mcp_sim.spec.parts.content import error_template
from mcp_sim.spec.parts.plans import CheckPart
from mcp_sim.spec.parts.surface import AskPart, Complete, NotifyPart, PromptPart, ResourcePart
from mcp_sim.spec.parts.tool_spec import ToolSpecDocument
from mcp_sim.spec.places import Place
from mcp_sim.types import Record
from mcp_sim.types.error_templates import REFUSAL_SLOTS, Template, slots_in
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties, types_of
from mcp_sim.types.json_schema.validation import FORMATS, Validator, compiled
from mcp_sim.types.surface import (
    ArgumentCheck,
    Ask,
    Choices,
    Media,
    Prompt,
    Resource,
    Round,
    ToolInteraction,
    has_unknown_expressions,
    slot_roots,
    variables,
)

P = TypeVar("P", bound=BaseModel)

_PLAIN = {"string", "number", "integer", "boolean", "array"}
_NOT_LISTED = {"text", "blob", "record", "records", "complete", "messages", "ask"}
"""Keys of an entry that lists do not show."""

MOST_TOKENS = 1000
"""The longest answer of a client's model, in tokens, to a question that is only a text."""


# tools ----------------------------------------------------------------------------------------------------------------


def read_interactions(
    place: Place, document: ToolSpecDocument, tools: Mapping[str, Place], *, has_resources: bool
) -> Iterator[tuple[str, ToolInteraction]]:
    """Yield what each tool does besides returning a result: questions, notifications, blocks, the time it takes."""
    shown = {example.tool for example in document.examples or ()}
    usual: dict[str, Media | None] = {
        name: None if name in shown else usual_media(name, tool.value) for name, tool in tools.items()
    }
    usual |= {
        name: None for name, options in document.sim.items() if options.result is not None or options.media == "none"
    }
    yield from ((name, ToolInteraction(media=media)) for name, media in usual.items() if media is not None)
    exists = {"tools": True, "prompts": bool(document.prompts), "resources": has_resources}
    for name, sim_part in document.sim.items():
        kept = (sim_part.ask, sim_part.notify, sim_part.blocks, sim_part.latency, sim_part.checks, sim_part.media)
        if name not in tools or not any(kept):
            continue
        at = place.at(name)
        check_blocks(at.at("blocks"), sim_part.blocks, [tools[name].value])
        _check_lists(at.at("notify"), sim_part.notify or (), exists)
        if sim_part.media not in (None, "none") and "outputSchema" in tools[name].value:
            at.at("media").error(f"{name} has an outputSchema; its result must be structured, not media")
        arguments = [*properties(expanded(as_object(tools[name].value.get("inputSchema"))))]
        asks = _rounds(at.at("ask"), sim_part.ask or ())
        checks = tuple(_checks(at.at("checks"), sim_part.checks or {}, arguments))
        notices, blocks = tuple(_notices(sim_part.notify or ())), dump_parts(sim_part.blocks)
        media = sim_part.media or usual[name]
        media = None if media == "none" else media
        yield name, ToolInteraction(asks, notices, blocks, sim_part.latency, checks, media)


def check_blocks(place: Place, blocks: Sequence[BaseModel] | None, tools: Iterable[Record]) -> None:
    """Note tools that declare structured content, and so cannot answer with blocks."""
    for tool in tools if blocks else ():
        if "outputSchema" in tool:
            place.error(f"{tool['name']} has an outputSchema; its result must be structured, not content blocks")


def dump_parts(parts: Sequence[BaseModel] | None) -> tuple[Record, ...]:
    """Return blocks, icons and other parts as they were written."""
    return tuple(model.model_dump(by_alias=True, exclude_unset=True) for model in parts or ())


_USUAL_MEDIA: Mapping[Media, re.Pattern[str]] = {
    "image": re.compile(
        r"(.*_)?screenshot|(generate|create|draw|render|make|edit)_(an?_)?(image|picture|illustration|qr_?code)s?"
    ),
    "audio": re.compile(
        r"text_to_speech|tts|synthesi[sz]e_(speech|voice)|(generate|create)_(speech|audio|music|sound(_effect)?|voice)"
    ),
    "pdf": re.compile(r"(generate|render)_(\w+_)?pdf"),
}
"""Names of tools that return media on all servers that were looked at. Other names are too often of records."""


def usual_media(name: str, tool: Record) -> Media | None:
    """Return what a tool returns by its name; None for a text, or if it declares another result."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").lower()
    for kind, pattern in _USUAL_MEDIA.items():
        if pattern.fullmatch(plain) and "outputSchema" not in tool:
            return kind
    return None


def _checks(place: Place, parts: Mapping[str, CheckPart], arguments: Sequence[str]) -> Iterator[ArgumentCheck]:
    for name, check_part in parts.items():
        at = place.at(name)
        if name not in arguments:
            at.error(f"unknown argument {name!r}{did_you_mean(name, arguments)}")
        try:
            schema = Validator(check_part.json_schema, FORMATS)
        except ValueError as error:
            at.at("schema").error(f"is not a usable JSON Schema: {error}")
        else:
            check_declared_schema(at.at("schema"))
            yield ArgumentCheck(name, schema, _refusal(at.at("error"), check_part, arguments))


def _refusal(place: Place, check_part: CheckPart, arguments: Sequence[str]) -> Template | None:
    """Return the error template of a check. Note the slots that never have a value."""
    if check_part.error is None:
        return None
    template, known = error_template(check_part.error), {*arguments, *REFUSAL_SLOTS}
    for slot in sorted(slots_in(template.value) - known):
        place.warning(f"unknown slot {{{slot}}}{did_you_mean(slot, known)}")
    return template


def _notices(parts: Iterable[NotifyPart]) -> Iterator[Record]:
    """Yield the notifications, each with its time since the start of the call in milliseconds."""
    at = timedelta(0)
    for notify_part in parts:
        at += notify_part.after
        notice = _notice(notify_part)
        yield {**notice, "at_ms": at / timedelta(milliseconds=1)} if at else notice


def _notice(notify_part: NotifyPart) -> Record:
    if notify_part.changed is not None:
        return {"method": f"notifications/{notify_part.changed}/list_changed", "params": {}}
    if notify_part.updated is not None:
        return {"method": "notifications/resources/updated", "params": {"uri": notify_part.updated}}
    if notify_part.progress is not None:
        params = notify_part.model_dump(include={"progress", "total", "message"}, exclude_none=True)
        return {"method": "notifications/progress", "params": params}
    logger = {} if notify_part.logger is None else {"logger": notify_part.logger}
    return {
        "method": "notifications/message",
        "params": {"level": notify_part.level, **logger, "data": notify_part.log},
    }


def _check_lists(place: Place, parts: Iterable[NotifyPart], exists: Mapping[str, bool]) -> None:
    for index, notify_part in enumerate(parts):
        if notify_part.changed is not None and not exists[notify_part.changed]:
            place.at(index, "changed").error(f"the server has no {notify_part.changed}")
        if notify_part.updated is not None and not exists["resources"]:
            place.at(index, "updated").error("the server has no resources")


# questions ------------------------------------------------------------------------------------------------------------


def _rounds(place: Place, rounds: Sequence[Mapping[str, AskPart]]) -> tuple[Round, ...]:
    """Return the rounds of questions. Names are unique over all rounds."""
    seen = set[str]()
    for index, questions in enumerate(rounds):
        for name, question in questions.items():
            at = place.at(index, name) if place.is_list else place.at(name)
            if name in seen:
                at.error(f"duplicate question {name!r}")
            seen.add(name)
            _check_form(at.at("schema"), question.form)
            if question.confirm and question.confirm not in _booleans(question.form):
                choices = _booleans(question.form)
                at.at("confirm").error(f"must be a boolean field of the form{did_you_mean(question.confirm, choices)}")
    return tuple({name: _ask(name, ask_part) for name, ask_part in questions.items()} for questions in rounds)


def _ask(name: str, ask_part: AskPart) -> Ask:
    if ask_part.roots:
        return Ask("roots/list", {}, "roots", ask_part.optional)
    if ask_part.sample is not None:
        sampling = ask_part.sample
        if isinstance(sampling, str):
            message = {"role": "user", "content": {"type": "text", "text": sampling}}
            sampling = {"messages": [message], "maxTokens": MOST_TOKENS}
        return Ask("sampling/createMessage", sampling, "sampling", ask_part.optional)
    if ask_part.url is not None:
        params = {"mode": "url", "message": ask_part.message, "url": ask_part.url, "elicitationId": name}
        return Ask("elicitation/create", params, "elicitation.url", ask_part.optional)
    params = {"mode": "form", "message": ask_part.message, "requestedSchema": ask_part.form}
    booleans = _booleans(ask_part.form)
    denies = booleans[0] if len(booleans) == 1 and ask_part.confirm is None else ""
    return Ask("elicitation/create", params, "elicitation", ask_part.optional, ask_part.confirm or "", denies)


def _booleans(form: Record | None) -> list[str]:
    return [name for name, body in properties(form or {}).items() if {*types_of(body)} == {"boolean"}]


def _check_form(place: Place, form: Record | None) -> None:
    """Note what a user could not fill in."""
    if form is None:
        return None
    try:
        compiled(form)
    except ValueError as error:
        return place.error(f"is not a usable JSON Schema: {error}")
    if form.get("type") != "object" or "properties" not in form:
        place.error("must be of `type: object`, with properties")
    for name, body in properties(form).items():
        if not set(types_of(body)) <= _PLAIN:
            place.at("properties", name).error("must be a string, number, boolean or list; users fill in plain values")
    return None


# resources ------------------------------------------------------------------------------------------------------------


def read_resources(place: Place, parts: Sequence[ResourcePart]) -> tuple[Resource, ...]:
    """Return the resources and resource templates of a server."""
    _check_unique(place, parts, "uri")
    _check_unique(place, parts, "uriTemplate")
    return tuple(_resource(place.at(index), resource_part) for index, resource_part in enumerate(parts))


def resource_entities(place: Place, parts: Sequence[ResourcePart]) -> Iterator[tuple[Place, str]]:
    """Yield each place where a resource names an entity."""
    for index, resource_part in enumerate(parts):
        for key, entity in (("record", resource_part.record), ("records", resource_part.records)):
            if entity is not None:
                yield place.at(index, key), entity
        yield from _choice_entities(place.at(index, "complete"), resource_part.complete)


def _resource(place: Place, resource_part: ResourcePart) -> Resource:
    names = [] if resource_part.uriTemplate is None else variables(resource_part.uriTemplate)
    if resource_part.uriTemplate is not None:
        _check_template(place, resource_part, names)
    choices = {name: _choices(complete) for name, complete in resource_part.complete.items()}
    key = names[-1] if resource_part.record is not None and names else None
    if key is not None and key not in choices:
        choices[key] = Choices(entity=resource_part.record)
    entity = resource_part.record or resource_part.records
    return Resource(
        _listed(place, resource_part.mimeType, of_record=entity is not None and resource_part.text is None),
        resource_part.text,
        resource_part.blob,
        entity,
        key,
        resource_part.records is not None,
        choices=choices,
    )


def _listed(place: Place, mime_type: str | None, *, of_record: bool = False) -> Record:
    """Return what a list shows of an entry."""
    listed = {key: value for key, value in place.mapping.items() if key not in _NOT_LISTED and value is not None}
    return {**listed, "mimeType": "application/json"} if of_record and mime_type is None else listed


def _check_template(place: Place, resource_part: ResourcePart, names: Sequence[str]) -> None:
    at = place.at("uriTemplate")
    if has_unknown_expressions(resource_part.uriTemplate or ""):
        at.error("write variables as {name}, or {+name} if values may contain slashes")
    if len(set(names)) < len(names):
        at.error("duplicate variable")
    if resource_part.record is not None and not names:
        at.error("needs a variable that names the record")
    for name in resource_part.complete.keys() - set(names):
        place.at("complete", name).error(f"unknown variable {name!r}")


# prompts --------------------------------------------------------------------------------------------------------------


def read_prompts(place: Place, parts: Sequence[PromptPart]) -> tuple[Prompt, ...]:
    """Return the prompts of a server."""
    _check_unique(place, parts, "name")
    return tuple(_prompt(place.at(index), prompt_part) for index, prompt_part in enumerate(parts))


def prompt_entities(place: Place, parts: Sequence[PromptPart]) -> Iterator[tuple[Place, str]]:
    """Yield each place where a prompt names an entity."""
    for index, prompt_part in enumerate(parts):
        for n, argument in enumerate(prompt_part.arguments or ()):
            if argument.complete is not None:
                yield from _choice_entities(place.at(index, "arguments", n), {"complete": argument.complete})


def _prompt(place: Place, prompt_part: PromptPart) -> Prompt:
    arguments = prompt_part.arguments or []
    _check_unique(place.at("arguments"), arguments, "name")
    definition = _listed(place, None)
    if prompt_part.arguments is not None:
        definition["arguments"] = [_listed(at, None) for at in place.at("arguments").items]
    messages = dump_parts(prompt_part.messages)
    known = {argument.name for argument in arguments} | {name for questions in prompt_part.ask for name in questions}
    for name in sorted(slot_roots(list(messages)) - known):
        place.at("messages").warning(f"{{{name}}} is neither an argument nor a question; it is not filled")
    return Prompt(
        definition,
        tuple({"role": "user", **message} for message in messages),
        _rounds(place.at("ask"), prompt_part.ask),
        {argument.name: _choices(argument.complete) for argument in arguments if argument.complete is not None},
    )


# in general -----------------------------------------------------------------------------------------------------------


def _choices(complete: Complete) -> Choices:
    if isinstance(complete, list):
        return Choices(tuple(complete))
    return Choices(entity=complete.entity, field=complete.field or "")


def _choice_entities(place: Place, complete: Mapping[str, Complete]) -> Iterator[tuple[Place, str]]:
    for name, value in complete.items():
        if not isinstance(value, list):
            yield place.at(name, "entity"), value.entity


def _check_unique(place: Place, parts: Sequence[P], key: str) -> None:
    seen = set[Any]()
    for index, entry in enumerate(parts):
        value: Any = getattr(entry, key)
        if value is not None and value in seen:
            place.at(index, key).error(f"duplicate {key} {value!r}")
        seen.add(value)
