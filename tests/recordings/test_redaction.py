"""Secrets in recorded messages: what is replaced, and what stays."""

from __future__ import annotations

import json
from typing import Any

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
