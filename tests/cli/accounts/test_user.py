"""`waylink user`: the people who sign in to the dashboard."""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime

import httpx
import pyotp
import pytest
from pymongo import MongoClient

from backend.domain.ids import OrgId
from tests.dashboard.people import FormsOf
from tests.processes.forked.terminal import on_terminal
from tests.processes.service_process import ServiceProcess, run_command

PASSWORD = "long enough to guess at"
PAGE = "/tags"  # one without figures, which cost more than all else here


def created_id(running: ServiceProcess, email: str, org_id: OrgId) -> str:
    """Make a user with PASSWORD, given on standard input; its id."""
    command = ("user", "create", email, "--org", org_id, "--password-stdin")
    printed = run_command(*command, environment=running.environment, typed=f"{PASSWORD}\n")
    assert list(printed) == ["id"]
    return str(printed["id"])


def signs_in(running: ServiceProcess, email: str, password: str) -> bool:
    """Whether the dashboard of the running service lets somebody in."""
    with httpx.Client(base_url=running.base_url, timeout=60) as client:
        fields = FormsOf(client.get("/sign-in").text).fields_of("/sign-in")
        answer = client.post("/sign-in", data=fields | {"email": email, "password": password})
        return answer.status_code == 303 and client.get(PAGE).status_code == 200


def test_a_user_is_made_and_signs_in(running: ServiceProcess, org_id: OrgId) -> None:
    """The user gets in with the password, in whatever case the address is typed, and with no other one."""
    user_id = created_id(running, "Ada@Example.com", org_id)
    listed = running.command("user", "list")["users"]
    ada = {
        "id": user_id, "email": "ada@example.com", "organizations": [org_id], "roles": ["owner"],
        "second_factor": False, "managed_by": None, "address_proved": False,
    }  # fmt: skip
    assert ada in listed
    assert signs_in(running, "ada@example.com", PASSWORD)
    assert not signs_in(running, "ada@example.com", PASSWORD + "x")


def test_a_new_password(running: ServiceProcess, org_id: OrgId) -> None:
    """The new password opens the dashboard, the old one does not any more; who is deleted can't sign in, and
    is not deleted twice."""
    email = "renew@example.com"
    created_id(running, email, org_id)
    command = ("user", "password", email, "--password-stdin")
    run_command(*command, environment=running.environment, typed="another long one\n")
    assert signs_in(running, email, "another long one")
    assert not signs_in(running, email, PASSWORD)
    assert running.command("user", "delete", email, "--yes")["deleted"]
    assert not signs_in(running, email, "another long one")
    assert f"There is no user '{email}'" in running.refusal("user", "delete", email)


def test_who_comes_by_single_sign_on_is_named_with_the_organization(
    running: ServiceProcess, org_id: OrgId
) -> None:
    """Such an account has no password, and is another one than that of the same address."""
    email, environment = "managed@example.com", running.environment
    account: dict[str, object] = {
        "_id": str(uuid.uuid4()), "email": email, "password_hash": None, "org_ids": [org_id],
        "roles": {org_id: "viewer"}, "created_at": datetime(2026, 1, 1, tzinfo=UTC), "managed_by": org_id,
    }  # fmt: skip
    with MongoClient[dict[str, object]](environment["WAYLINK_MONGODB_URI"]) as client:
        client[environment["WAYLINK_MONGODB_DATABASE"]]["users"].insert_one(account)
    assert "no user 'managed@example.com' who signs in so" in running.refusal("user", "reset", email)
    own_id = created_id(running, email, org_id)
    for command in ("sign-out", "delete"):
        options = ["--org", org_id, *(["--yes"] if command == "delete" else [])]
        assert running.command("user", command, email, *options)["id"] == account["_id"]
    left = [user["id"] for user in running.command("user", "list")["users"] if user["email"] == email]
    assert left == [own_id]


def test_a_lost_second_factor_is_turned_off(running: ServiceProcess, org_id: OrgId) -> None:
    """Then the password alone signs in; of whoever has none, it says so."""
    email = "phoneless@example.com"
    user_id = created_id(running, email, org_id)
    off = ("user", "second-factor-off", email, "--yes")
    assert "has no second factor" in running.refusal(*off)
    with httpx.Client(base_url=running.base_url, timeout=60) as client:
        fields = FormsOf(client.get("/sign-in").text).fields_of("/sign-in")
        client.post("/sign-in", data=fields | {"email": email, "password": PASSWORD})
        page = "/settings/second-factor"
        fields = FormsOf(client.get(page).text).fields_of(page)
        code = pyotp.TOTP(fields["secret"]).now()
        shown = client.post(page, data=fields | {"code": code, "password": PASSWORD})
        assert "Keep these codes" in shown.text
        listed = {user["id"]: user["second_factor"] for user in running.command("user", "list")["users"]}
        assert listed[user_id] is True
        assert not signs_in(running, email, PASSWORD)
        assert running.command(*off) == {"id": user_id, "second_factor": False}
        assert client.get(PAGE).status_code == 303, "the session has ended"
    assert signs_in(running, email, PASSWORD)


def test_the_password_is_asked_for_without_echo(running: ServiceProcess, org_id: OrgId) -> None:
    """On a terminal the password is asked for twice, and not shown."""
    command = ("user", "create", "typed@example.com", "--org", org_id)
    with on_terminal(running.environment, command) as (process, typed):
        shown = b""
        for prompt in (b"Password:", b"Repeat for confirmation:"):
            while not shown.endswith(prompt + b" "):
                shown += os.read(typed, 1)
            os.write(typed, f"{PASSWORD}\n".encode())
        process.join(60)
        assert process.exitcode == 0
    assert PASSWORD.encode() not in shown
    assert signs_in(running, "typed@example.com", PASSWORD)


@pytest.fixture(scope="module")
def taken(running: ServiceProcess, org_id: OrgId) -> str:
    """The address of a user that exists."""
    created_id(running, "taken@example.com", org_id)
    return "taken@example.com"


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize(
    ("arguments", "password", "sentence"),
    [
        (["taken@example.com"], PASSWORD, "There is a user taken@example.com already."),
        (["no address"], PASSWORD, "must be an e-mail address such as ada@example.com"),
        (["a@b@c"], PASSWORD, "must be an e-mail address"),
        (["short@example.com"], "elevenchars", "The password must have at least 12 characters."),
        (["same@example.com"], "a" * 20, "The password must not be one character repeated."),
        (["long@example.com"], "ab" * 600, "The password must have at most 1024 characters."),
    ],
)
def test_what_a_user_can_not_be(
    running: ServiceProcess, org_id: OrgId, arguments: list[str], password: str, sentence: str
) -> None:
    """Each refusal is one sentence that says the rule."""
    command = ("user", "create", *arguments, "--org", org_id, "--password-stdin")
    assert sentence in running.refusal(*command, typed=f"{password}\n")


def test_a_user_needs_an_organization_that_exists(running: ServiceProcess) -> None:
    """An unknown id of an organization is refused before a password is asked for."""
    message = running.refusal("user", "create", "nowhere@example.com", "--org", "none", "--password-stdin")
    assert "There is no organization with the id 'none'" in message


def test_the_organizations_of_a_user(running: ServiceProcess, org_id: OrgId, taken: str) -> None:
    """They are set anew as a whole, and must exist."""
    second = str(running.command("organization", "create", "Second")["id"])
    running.command("user", "organizations", taken, "--org", org_id, "--org", second)
    listed = {user["email"]: user["organizations"] for user in running.command("user", "list")["users"]}
    assert listed[taken] == [org_id, second]
    assert "no organization" in running.refusal("user", "organizations", taken, "--org", "none")


def test_links_for_an_invitation_and_a_new_password(
    running: ServiceProcess, org_id: OrgId, taken: str
) -> None:
    """Both lead to pages of the dashboard; a member is not invited, and a role is changed."""
    invited = running.command("user", "invite", "ida@example.com", "--org", org_id, "--role", "editor")
    assert "ida@example.com" in httpx.get(invited["url"]).text
    assert "is a member" in running.refusal("user", "invite", taken, "--org", org_id)
    reset = running.command("user", "reset", taken)
    assert taken in httpx.get(reset["url"]).text
    user_id = running.command("user", "role", taken, "viewer", "--org", org_id)["id"]
    listed = running.command("user", "list")["users"]
    [user] = [user for user in listed if user["email"] == taken]
    assert user["id"] == user_id
    assert user["roles"][user["organizations"].index(org_id)] == "viewer"
    assert running.command("user", "sign-out", taken)["signed_out"]
