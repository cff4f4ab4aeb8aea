"""The form of results that no schema declares: JSON text or sentences, one decision for a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

from mcp_sim.types import ToolResult

Json = Any
WRAPPER = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
CALLS: list[tuple[str, dict[str, str]]] = [
    ("add_card", {"front": "Hund", "deck": "de"}),
    ("list_cards", {}),
    ("get_card", {"card_id": "card_00001"}),
    ("update_card", {"card_id": "card_00001", "front": "Katze"}),
    ("shuffle_deck", {"deck": "de"}),
    ("delete_card", {"card_id": "card_00001"}),
]
WORDS = {"add_card": "Add a card. Returns a confirmation message.", "get_card": "Show a card as a formatted string."}
JSON = {
    "add_card": "Add a card.\n\nReturns:\n    JSON with the card.",
    "list_cards": "List the cards as JSON.",
    "get_card": "Card as a formatted string.",
}


def spec(described: dict[str, str], *, wrapped: bool, declared: str = "") -> str:
    text = {"type": "string"}
    tools = [
        {
            "name": name,
            "description": described.get(name, name.replace("_", " ").capitalize()),
            "inputSchema": {"type": "object", "properties": dict.fromkeys(arguments, text), "required": [*arguments]},
            **({"outputSchema": WRAPPER} if wrapped else {}),
        }
        for name, arguments in CALLS
    ]
    return f"{declared}\ntools: {json.dumps(tools)}\n"


async def forms(tmp_path: Path, text: str) -> dict[str, str]:
    """Return the form of the answer of each tool."""
    async with service(tmp_path, text, "records: {card: 0}") as sim, sim.open() as world:
        answers = {name: value(await world.call(name, arguments)) for name, arguments in CALLS}
    return {name: form_of(answer) for name, answer in answers.items()}


def form_of(answer: Json) -> str:
    is_wrapped = isinstance(answer, dict) and "result" in answer
    return "json" if isinstance(parsed(answer["result"] if is_wrapped else answer), dict | list) else "prose"


def parsed(answer: Json) -> Json:
    try:
        return json.loads(answer) if isinstance(answer, str) else answer
    except ValueError:
        return answer


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("described", "declared", "form"),
    [({}, "", "json"), (WORDS, "", "prose"), (JSON, "", "json"), (WORDS, "text: json", "json"),
     ({}, "text: prose", "prose"), (JSON, "text: prose", "prose")],
)  # fmt: skip
async def test_all_tools_of_a_server_answer_in_one_form(
    tmp_path: Path, described: dict[str, str], declared: str, form: str, wrapped: bool
) -> None:
    answered = await forms(tmp_path, spec(described, wrapped=wrapped, declared=declared))
    # What renders one thing for people does so also in a server of JSON.
    rendered = {"get_card"} if described is JSON and not declared else set[str]()
    assert answered == {name: "prose" if name in rendered else form for name, _ in CALLS}


async def test_examples_show_the_form(tmp_path: Path) -> None:
    examples = 'examples: [{tool: add_card, arguments: {front: Hund, deck: de}, result: "Added Hund"}]'
    answered = await forms(tmp_path, spec({}, wrapped=False, declared=examples))
    assert set(answered.values()) == {"prose"}


@pytest.mark.parametrize("does", ["Send a message", "Get a summary of all cards", "Take the set as text"])
async def test_what_a_tool_takes_or_does_is_no_sign_of_prose(tmp_path: Path, does: str) -> None:
    assert set((await forms(tmp_path, spec({"add_card": does, "shuffle_deck": does}, wrapped=False))).values()) == {
        "json"
    }


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        ({}, '{\n  "card_id": '),
        ({"_meta": {"fastmcp": {}}}, '{"card_id":'),
        ({"_meta": {"_fastmcp": {}}}, '{"card_id":'),
    ],
)
async def test_json_in_a_text_is_laid_out_as_the_framework_of_the_server_does(
    tmp_path: Path, marks: Json, text: str
) -> None:
    tools = json.loads(spec({}, wrapped=False).partition("tools: ")[2])
    document = f"tools: {json.dumps([{**tool, **marks} for tool in tools])}"
    async with service(tmp_path, document, "records: {card: 0}") as sim, sim.open() as world:
        answer = await world.call(*CALLS[0])
    assert isinstance(answer.body, ToolResult)
    assert answer.body.content[0]["text"].startswith(text)


@pytest.mark.parametrize("heading", ["Args", "Parameters", "Parametri", "**Parámetros**"])
@pytest.mark.parametrize("result", ["\n\nReturns:\n  A confirmation message", ". Returns a confirmation message."])
async def test_what_a_description_says_of_arguments_is_no_sign_of_sentences(
    tmp_path: Path, heading: str, result: str
) -> None:
    about = f"Add a card.\n\n{heading}:\n  front: Text in Markdown, as a formatted string"
    described = {"add_card": about, "update_card": about.replace("Add", "Change")}
    assert {*(await forms(tmp_path, spec(described, wrapped=True))).values()} == {"json"}
    described["add_card"] += result
    assert {*(await forms(tmp_path, spec(described, wrapped=True))).values()} == {"prose"}
