"""Tools that log a user in and out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support import matched_tools
from support.backend_answers import STRING, Json, error_text, simulator, success_value, tool

from mcp_sim.backends.library import Library
from mcp_sim.backends.refusal import Refused

BOOLEAN = {"type": "boolean"}
LOGIN = tool("login", {"username": STRING, "password": STRING}, {"success": BOOLEAN, "message": STRING})
LOGOUT = tool("logout", {}, {"success": BOOLEAN})
STATUS = tool("is_logged_in", {}, {"logged_in": BOOLEAN})
WHO = tool("get_current_user", {}, {"username": STRING})
ADA = {"username": "ada", "password": "s3cret"}


async def test_a_user_is_logged_in_until_they_log_out(tmp_path: Path) -> None:
    async with simulator(tmp_path, [LOGIN, LOGOUT, STATUS, WHO]) as sim, sim.open() as world:
        assert success_value(await world.call("is_logged_in", {})) == {"logged_in": False}
        assert "No user" in error_text(await world.call("get_current_user", {}))
        answer = success_value(await world.call("login", ADA))
        assert answer["success"] is True
        assert "ada" in answer["message"]
        assert success_value(await world.call("is_logged_in", {})) == {"logged_in": True}
        assert success_value(await world.call("get_current_user", {})) == {"username": "ada"}
        assert world.view.get("session", "session") == {"current_user": "ada"}
        assert success_value(await world.call("logout", {})) == {"success": True}
        assert success_value(await world.call("logout", {})) == {"success": False}


async def test_given_credentials_are_checked(tmp_path: Path) -> None:
    async with simulator(tmp_path, [LOGIN, STATUS], state={**ADA, "authenticated": False}) as sim, sim.open() as world:
        assert error_text(await world.call("login", {**ADA, "password": "guess"})) == "Invalid username or password"
        assert success_value(await world.call("is_logged_in", {})) == {"logged_in": False}
        assert success_value(await world.call("login", ADA))["success"] is True
        assert success_value(await world.call("is_logged_in", {})) == {"logged_in": True}


async def test_each_login_of_a_server_has_its_own_session(tmp_path: Path) -> None:
    tools = [
        tool("mail_login", {"user_id": STRING}, about="Part of the mail system. Logs in."),
        tool(
            "authenticate_bank",
            {"client_id": STRING, "client_secret": STRING},
            {"access_token": STRING, "expires_in": {"type": "integer"}},
        ),
        tool("mail_get_login_status", {}, {"status": BOOLEAN}),
        tool("bank_get_login_status", {}, {"status": BOOLEAN}),
        tool("signOut", {}, about="Part of the mail system. Logs out."),
    ]
    state = {"Mail": {"current_user": "u1"}, "Bank": {"access_token": None, "token_expires_in": 600}}
    async with simulator(tmp_path, tools, state=state) as sim, sim.open() as world:
        assert success_value(await world.call("mail_get_login_status", {})) == {"status": True}
        assert success_value(await world.call("bank_get_login_status", {})) == {"status": False}
        success_value(await world.call("signOut", {}))
        token = success_value(await world.call("authenticate_bank", {"client_id": "me", "client_secret": "x"}))
        assert token["expires_in"] == 600
        assert len(token["access_token"]) == 32
        assert success_value(await world.call("mail_get_login_status", {})) == {"status": False}
        assert success_value(await world.call("bank_get_login_status", {})) == {"status": True}


async def test_tools_that_only_mention_logins_do_not_match(tmp_path: Path) -> None:
    tools = [
        tool("list_login_attempts", {"user_id": STRING}),
        tool("get_login_url", {"username": STRING}),
        tool("create_session", {"title": STRING}),
    ]
    async with simulator(tmp_path, tools) as sim:
        assert {plan.backend for plan in sim.scenario.domain.plans.values()} & {"auth"} == set()


POST = tool("create_post", {"content": STRING}, {"id": {"type": "integer"}, "content": STRING})
READ = tool("get_post", {"post_id": {"type": "integer"}}, {"id": {"type": "integer"}, "content": STRING})


USERS = [{"id": 1, "username": "ada", "password": "s3cret"}, {"id": 2, "username": "bob", "password": "hunter2"}]


@pytest.mark.parametrize(
    "state",
    [
        {"users": USERS},
        {"users": {"ada": {"password": "s3cret"}, "bob": {"password": "hunter2"}}},
        {"users": {"columns": ["username", "password"], "rows": [["ada", "s3cret"], ["bob", "hunter2"]]}},
        {"app": {"auth": {"users": USERS}}},
        {"accounts": USERS},
        {"credentials": {"ada": "s3cret", "bob": "hunter2"}},
    ],
)
async def test_given_users_log_in_with_their_passwords(tmp_path: Path, state: Json) -> None:
    async with simulator(tmp_path, [LOGIN, STATUS], state) as sim, sim.open() as world:
        assert "not found" in error_text(await world.call("login", {"username": "eve", "password": "s3cret"}))
        wrong = await world.call("login", {**ADA, "password": "hunter2"})
        assert error_text(wrong) == "Invalid username or password"
        assert success_value(await world.call("is_logged_in", {})) == {"logged_in": False}
        assert success_value(await world.call("login", ADA))["success"] is True


@pytest.mark.parametrize(
    "state",
    [
        {"current_user": "ada"},
        {"app": {"session": {"current_user": "ada"}}},
        {"sessions": [{"current_user": "ada"}]},
        {"session": {"columns": ["current_user"], "rows": [["ada"]]}},
    ],
)
async def test_a_given_session_has_a_user(tmp_path: Path, state: Json) -> None:
    async with simulator(tmp_path, [LOGIN, LOGOUT, WHO], state) as sim, sim.open() as world:
        assert success_value(await world.call("get_current_user", {})) == {"username": "ada"}
        assert success_value(await world.call("logout", {})) == {"success": True}
        assert "No user" in error_text(await world.call("get_current_user", {}))


async def test_an_argument_selects_to_log_in_or_out(tmp_path: Path) -> None:
    action = {"type": "string", "enum": ["login", "logout", "status"]}
    account = tool("session", {"action": action, "username": STRING, "password": STRING},
                   optional=["username", "password"])  # fmt: skip
    async with simulator(tmp_path, [account]) as sim, sim.open() as world:
        assert success_value(await world.call("session", {"action": "status"})) == "Not logged in"
        success_value(await world.call("session", {"action": "login", **ADA}))
        assert success_value(await world.call("session", {"action": "status"})) == "Logged in as ada"
        assert success_value(await world.call("session", {"action": "logout"})) == "Logged out successfully"


async def test_a_spec_chooses_the_operation(tmp_path: Path) -> None:
    enter = {"backend": "auth", "operation": "login", "arguments": {"user": "card"}}
    sim = matched_tools.simulator(
        tmp_path, [tool("enter", {"card": STRING}), tool("who_is_in")], spec={
            "sim": {"enter": enter, "who_is_in": {"backend": "auth", "operation": "who"}},
        },
    )  # fmt: skip
    async with sim.open() as world:
        assert "No user" in await matched_tools.refused(world, "who_is_in")
        await matched_tools.answered(world, "enter", card="ada")
        assert (await matched_tools.answered(world, "who_is_in"))["user"] == "ada"


async def test_operations_are_called_from_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, [LOGIN, STATUS], state={**ADA, "authenticated": False}) as sim, sim.open() as world:
        auth = Library("auth", world.view, datetime(2030, 1, 1, tzinfo=UTC))
        assert auth.status().value is False
        with pytest.raises(Refused, match="Invalid username or password"):
            auth.login("ada", "guess")
        assert auth.login("ada", "s3cret").text == "User 'ada' logged in successfully."
        assert auth.who().facts["user"] == "ada"
        auth.logout()
        assert (auth.view.get("session", "session") or {})["authenticated"] is False
