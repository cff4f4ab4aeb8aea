"""Secrets in recorded messages: what is replaced, and what stays."""

from __future__ import annotations

import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from mcp_sim.recordings.capture.redaction import Redactor


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ({"note": "it is hunter2!", "password": "hunter2!"}, {"note": "it is <password>", "password": "<password>"}),
        ({"next_page_token": "abcdef123", "max_tokens": 5}, {"next_page_token": "abcdef123", "max_tokens": 5}),
        (
            {"clientSecret": "x", "pin": 1234, "auth": "required"},
            {"clientSecret": "<secret>", "pin": "<pin>", "auth": "required"},
        ),
        ({"credentials": {"user": "ada"}}, {"credentials": {"user": "<credentials>"}}),
        ("export API_KEY=swordfish # mine", "export API_KEY=<api-key> # mine"),
        ("password: required, token: none", "password: required, token: none"),
        ("{'api_key': 'k-1'}", "{'api_key': '<api-key>'}"),
        ("postgres://ada:pa55@db/notes", "postgres://ada:<url-password>@db/notes"),
        ("key AKIAIOSFODNN7EXAMPLE", "key <aws-key>"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest", "<private-key>\nrest"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer <bearer-token>"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "<jwt>"),
        ("a keyboard, a tokenizer, the author", "a keyboard, a tokenizer, the author"),
    ],
)
def test_secrets_are_replaced_and_all_else_stays(value: Any, redacted: Any) -> None:
    found = json.dumps(Redactor().redact(value, "place"))
    for kind in (
        "password",
        "secret",
        "pin",
        "credentials",
        "api-key",
        "url-password",
        "aws-key",
        "private-key",
        "jwt",
    ):
        found = found.replace(f"<redacted:{kind}-1>", f"<{kind}>")
    found = found.replace("<redacted:client-secret-1>", "<secret>").replace(
        "<redacted:bearer-token-1>", "<bearer-token>"
    )
    assert json.loads(found) == redacted


def test_the_same_secret_has_one_placeholder_wherever_it_is_found() -> None:
    redactor = Redactor()
    redactor.learn_environment({"NOTES_TOKEN": "s3cret/with?signs", "GIT_AUTHOR_NAME": "Ada Vos"})
    first = redactor.redact({"token": "s3cret/with?signs", "by": "Ada Vos"}, "a")
    assert first == {"token": "<redacted:environment-1>", "by": "Ada Vos"}
    assert redactor.redact("https://x/?t=s3cret%2Fwith%3Fsigns", "b") == "https://x/?t=<redacted:environment-1>"
    assert list(redactor.report()) == ["environment: 2 times, 1 different; in a.token, b"]


def test_a_description_of_a_password_is_no_secret_but_its_default_is() -> None:
    password = {"type": "string", "description": "The password: at least 8 letters", "default": "letmein99"}
    tools = [{"name": "login", "inputSchema": {"properties": {"password": password, "token": {"type": "string"}}}}]
    [tool] = Redactor().redact_schemas(tools, "tools")
    assert tool["inputSchema"]["properties"] == {
        "password": {**password, "default": "<redacted:password-1>"},
        "token": {"type": "string"},
    }


def test_the_words_of_a_command_and_a_url_have_no_secrets() -> None:
    words = ["serve", "--token", "abc9", "--name=notes", "https://u:pa55w@h.example/s/0123456789abcdefXYZ/mcp?key=k-77"]
    found = " ".join(Redactor().redact_command(words))
    assert not [secret for secret in ("abc9", "pa55w", "0123456789", "k-77") if secret in found]
    assert found.startswith("serve --token <redacted:argument-")
    assert "--name=notes https://" in found


SECRET = "hunter2-Swordfish/42+x"
BASIC = b64encode(f"ada:{SECRET}".encode()).decode()
ODD_PLACES: dict[str, Any] = {
    "a named value": [{"name": "password", "value": SECRET}, {"key": "API_KEY", "value": SECRET}],
    "pairs": [["Authorization", f"Token {SECRET}"], ["X-Api-Key", SECRET]],
    "credentials at a key": {"headers": {"Authorization": f"Basic {BASIC}"}, "note": SECRET},
    "credentials in a text": f"curl -H 'Authorization: Basic {BASIC}' # {SECRET}",
    "a key that looks like another": {"ｐass\u200bword": SECRET},
    "a query": f"https://h.example/?access_token={quote(SECRET, '')}&n=1#{quote(SECRET)}",
    "a block of YAML": f"password: |\n  {SECRET}\nuser: ada",
    "an option": f"tool --api-key {SECRET} --verbose",
    "words with a blank": f"Use the API key: {SECRET} always",
    "nested JSON": json.dumps(json.dumps({"config": {"db_password": SECRET}})),
}


@pytest.mark.parametrize("value", ODD_PLACES.values(), ids=ODD_PLACES)
def test_secrets_in_odd_places_are_replaced(value: Any) -> None:
    found = json.dumps(Redactor().redact(value, "place"), ensure_ascii=False)
    assert "<redacted:" in found
    assert not [form for form in (SECRET, BASIC, quote(SECRET, ""), quote(SECRET)) if form in found]


@pytest.mark.parametrize(
    "form",
    [
        quote(SECRET, ""),
        quote(SECRET, "").replace("%2F", "%2f").replace("%2B", "%2b"),
        quote(SECRET),
        *(b64encode(before + SECRET.encode() + b":tail").decode() for before in (b"", b"a", b"ab", b"user:")),
        urlsafe_b64encode(b"ab" + SECRET.encode()).decode(),
        quote(b64encode(SECRET.encode()).decode(), ""),
        b64encode(b64encode(SECRET.encode())).decode(),
        encodebytes(b"." * 50 + SECRET.encode() + b"." * 50).decode(),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        quote(quote(SECRET, ""), ""),
        escape("<" + SECRET + ">"),
    ],
)
def test_a_known_secret_is_found_in_other_encodings(form: str) -> None:
    redactor = Redactor()
    redactor.learn_environment({"NOTES_TOKEN": SECRET})
    assert "<redacted:environment-1>" in str(redactor.redact(f"before {form} after", "place"))


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"password": {"anyOf": [{"const": SECRET}, {"default": SECRET}]}}},
        {"properties": {"login": {"default": {"user": "ada", "password": SECRET}}}},
        {"examples": [{"password": SECRET}]},
    ],
)
def test_secrets_in_the_values_of_schemas_are_replaced(schema: Any) -> None:
    tools = [{"name": "login", "_meta": {"x/token": SECRET}, "inputSchema": schema}]
    assert SECRET not in json.dumps(Redactor().redact_schemas(tools, "tools"))


def test_properties_that_are_named_like_keywords_are_schemas() -> None:
    tools = [{"inputSchema": {"properties": {"default": {"properties": {"token": {"type": "string1"}}}}}}]
    assert Redactor().redact_schemas(tools, "tools") == tools


@pytest.mark.parametrize(
    "line",
    [
        {"result": {"content": [{"type": "text", "text": SECRET[:9]}, {"type": "text", "text": SECRET[9:]}]}},
        {"result": {"_meta": {"trace": f"a{SECRET}b", SECRET: 1}}},
        {"error": {"code": 1, "message": f"No such token: {SECRET}", "data": [SECRET]}},
        {"uri": f"notes://{quote(SECRET, '')}@host/{SECRET}"},
        {SECRET: {b64encode(SECRET.encode()).decode(): 1}},
    ],
)
def test_a_known_secret_is_found_wherever_a_line_has_it(line: Any) -> None:
    redactor = Redactor()
    redactor.learn_environment({"NOTES_TOKEN": SECRET})
    found = json.dumps(redactor.redact(line, "place"), ensure_ascii=False)
    assert "<redacted:environment-1>" in found
    assert not [form for form in (SECRET, SECRET[9:], quote(SECRET, "")) if form in found]
