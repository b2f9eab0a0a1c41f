"""Limits of links over REST: set, changed, read back, found by."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.rest_api.links import bulk as bulk_links
from backend.settings import Settings
from backend.storage.accounts import domains
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.users.passwords import HASHING
from backend.storage.driver.mongo import Database
from backend.storage.links.writing import idempotency
from tests.api.link_calls import link_body, wrong
from tests.api.test_error_table import serving
from tests.api.whole_links import Links
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.stopped_thread import stopped, waits

PAST, FUTURE = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
LIMITS: dict[str, Any] = {
    "starts_at": "2026-01-01T00:00:00Z",
    "expires_at": FUTURE,
    "max_clicks": 5,
    "click_to_continue": True,
    "expired_url": "https://shop.example/over",
}


def limits_of(link: dict[str, Any]) -> dict[str, Any]:
    """Those fields of a link that limit it."""
    return {name: link[name] for name in LIMITS}


async def test_limits_are_read_back(links: Links) -> None:
    """POST, PATCH and an upsert set limits, null clears one, and what is not sent stays."""
    made = await links.make(**LIMITS, external_id="sku")
    assert limits_of(made) == LIMITS == limits_of(await links.get(made["id"]))
    zoned = (await links.call("PATCH", f"/{made['id']}", {"expires_at": "2099-01-01T01:00:00+01:00"})).json()
    assert limits_of(zoned) == LIMITS | {"expires_at": "2099-01-01T00:00:00Z"}
    cleared = (await links.call("PATCH", f"/{made['id']}", {"expires_at": None, "expired_url": ""})).json()
    assert limits_of(cleared) == LIMITS | {"expires_at": None, "expired_url": None}
    upserted = await links.post(external_id="sku", selected_path=made["path"], starts_at=None)
    assert limits_of(upserted.json()) == dict.fromkeys(LIMITS) | {"max_clicks": 5, "click_to_continue": True}
    free = (await links.call("PATCH", f"/{made['id']}", {"max_clicks": None})).json()
    assert limits_of(free) == dict.fromkeys(LIMITS) | {"click_to_continue": False}


REFUSED_LIMITS: list[tuple[Any, ...]] = [
    ({"starts_at": "2026-01-01"}, "starts_at must be an ISO 8601 time with a zone"),
    ({"expires_at": 1}, "expires_at must be an ISO 8601 time with a zone"),
    ({"starts_at": FUTURE, "expires_at": PAST}, "expires_at must be after starts_at"),
    ({"click_to_continue": True}, "click_to_continue is for links with max_clicks"),
    ({"click_to_continue": "yes", "max_clicks": 1}, "click_to_continue must be true or false"),
    ({"max_clicks": 0}, "max_clicks must be a whole number from 1 to 1000000000"),
    ({"max_clicks": True}, "max_clicks must be a whole number from 1 to 1000000000"),
    ({"max_clicks": ""}, "max_clicks must be a whole number from 1 to 1000000000"),
    ({"password": "abc"}, "password must have 4 to 1024 characters"),
    ({"password": ""}, "password must have 4 to 1024 characters"),
    ({"password": 1234}, "password must be a string"),
    ({"expired_url": "javascript:alert(1)"}, "expired_url must be an absolute http or https URL"),
]


async def test_refused_limits(links: Links) -> None:
    """A limit that breaks a rule is refused with the field and the rule, and nothing is changed."""
    made = await links.make()
    for fields, message in REFUSED_LIMITS:
        for answer in (await links.post(**fields), await links.call("PATCH", f"/{made['id']}", fields)):
            assert answer.status_code == 400
            assert answer.json()["error"]["errorMessage"].startswith(message)
        assert await links.get(made["id"]) == made, fields


async def test_the_end_does_not_lead_back(links: Links) -> None:
    """The address for those who come too late can't be the link's own, also over another link."""
    base = f"https://{links.organization.domain}"
    other = await links.make(selected_path="other", expired_url=f"{base}/own")
    answer = await links.post(selected_path="own", expired_url=f"{base}/other")
    assert (answer.status_code, answer.json()) == (
        400,
        wrong("expired_url must not lead back to the link's own short URL"),
    )
    answer = await links.call("PATCH", f"/{other['id']}", {"expired_url": f"{base}/other"})
    assert answer.status_code == 400


async def visits(links: Links, path: str, times: int) -> list[int]:
    """The statuses of so many visits, one after the other."""
    return [await links.visit(path) for _ in range(times)]


async def seen_everywhere(links: Links, path: str, status: int) -> None:
    """Return once visitors get this status; asked by a crawler, which uses nothing up."""
    headers = {"Host": links.organization.domain, "User-Agent": "Googlebot/2.1"}

    async def answered() -> int:
        return (await links.client.get(f"/{path}", headers=headers)).status_code

    await wait_for_async(answered, f"it is not answered {status}", lambda seen: seen == status)


async def test_a_limit_of_clicks_is_raised_and_lowered(links: Links) -> None:
    """As many visitors get through as the limit says at that time; what is left is told, and a link that is
    used up has expired until its limit is raised or taken away."""
    made = await links.make(max_clicks=2, expired_url="https://shop.example/over")
    path = made["path"]

    async def told() -> tuple[str, int | None]:
        link = await links.get(made["id"])
        return link["state"], link["clicks_left"]

    async def change(**fields: Any) -> dict[str, Any]:
        changed: dict[str, Any] = (await links.call("PATCH", f"/{made['id']}", fields)).json()
        return changed

    assert (made["state"], made["clicks_left"]) == ("enabled", 2)
    assert await visits(links, path, 1) == [302]
    assert await told() == ("enabled", 1)
    await visits(links, path, 3)
    await wait_for_async(told, "it has not expired", lambda seen: seen == ("expired", 0))
    assert [link["id"] for link in await links.list("state=expired")] == [made["id"]]
    raised = await change(max_clicks=3)
    assert (raised["state"], raised["clicks_left"]) == ("enabled", 1)
    assert await links.list("state=expired") == []
    lowered = await change(max_clicks=1)
    assert (lowered["state"], lowered["clicks_left"]) == ("expired", 0)
    free = await change(max_clicks=None)
    assert (free["state"], free["clicks_left"], free["max_clicks"]) == ("enabled", None, None)
    again = await change(max_clicks=4, expired_url=None)
    assert (again["state"], again["clicks_left"]) == ("enabled", 2)
    await seen_everywhere(links, path, 302)
    assert sorted(await visits(links, path, 5)) == [302, 302, 404, 404, 404]


async def test_a_purged_link_leaves_no_clicks_taken(links: Links, database: Database) -> None:
    """A link that is deleted for good takes along what was taken from its limit."""
    made = await links.make(max_clicks=5)
    await visits(links, made["path"], 1)
    of_link = {"link_id": made["id"]}
    assert await database["taken_clicks"].count_documents(of_link) == 1
    assert (await links.call("DELETE", f"/{made['id']}?purge=true&force=true")).status_code == 204
    assert await database["taken_clicks"].count_documents(of_link) == 0


async def test_a_password_is_never_read_back(links: Links, database: Database) -> None:
    """A password is stored as its Argon2id hash; answers say only that there is one, also those of bulks, and
    null takes it away."""
    password = "kites & ropes"
    made = await links.make(password=password)
    stored = await database["links"].find_one({"_id": made["id"]})
    assert stored is not None
    assert stored["limits"]["password_hash"].startswith("$argon2id$")
    assert password not in str(stored)
    assert (made["has_password"], "password" in made, "password_hash" in made) == (True, False, False)
    assert await links.visit(made["path"]) == 200
    free = (await links.call("PATCH", f"/{made['id']}", {"password": None})).json()
    assert free["has_password"] is False
    change = {"op": "update", "id": made["id"], "link": {"password": password}}
    answer = await links.call("POST", "/bulk", {"operations": [change]})
    assert answer.json()["results"][0]["status"] == "updated"
    assert password not in answer.text
    assert (await links.get(made["id"]))["has_password"] is True


async def test_passwords_of_a_bulk_have_a_limit(links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes are dear: of operations that set a password, those beyond the limit are told and do nothing."""
    monkeypatch.setattr(bulk_links, "MOST_PASSWORDS", 1)
    body = link_body(links.organization)
    passwords: tuple[dict[str, str], ...] = ({"password": "one!"}, {"password": "two!"}, {})
    operations = [{"op": "create", "link": body | fields} for fields in passwords]
    results = (await links.call("POST", "/bulk", {"operations": operations})).json()["results"]
    assert [result["status"] for result in results] == ["created", "rejected", "created"]
    assert results[1]["error"]["error"]["errorMessage"] == "password is set by more than 1 operations"


async def test_a_repeated_request_with_a_password(links: Links, database: Database) -> None:
    """It gets the first answer, one with another password is refused; what is kept of it tells nobody the
    password who can't guess the key."""
    body = link_body(links.organization, password="kites")
    answers = [
        await links.call("POST", "", body | {"password": password}, **{"Idempotency-Key": "k"})
        for password in ("kites", "kites", "ropes")
    ]
    assert [answer.status_code for answer in answers[:2]] == [201, 201]
    assert answers[0].text == answers[1].text
    assert answers[2].status_code != 201
    kept = await database[idempotency.NAME].find_one(
        {"_id": idempotency.record_id(links.organization.id, "k")}
    )
    assert kept is not None
    guessed = "POST /links" + json.dumps(body, sort_keys=True)
    assert hashlib.sha256(guessed.encode()).hexdigest() not in str(kept)


async def test_a_repeated_request_with_a_password_is_not_looked_at_again(
    links: Links, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the first answer also where it would be refused by now, and costs no hash."""
    monkeypatch.setattr(DomainOwners, "LIFETIME", 0.0)
    body = link_body(links.organization, password="kites")
    first = await links.call("POST", "", body, **{"Idempotency-Key": "k"})
    await database[domains.NAME].delete_one({"_id": body["domain"]})
    again = await links.call("POST", "", body, **{"Idempotency-Key": "k"})
    assert (first.status_code, again.text) == (201, first.text)


async def test_links_are_found_by_their_state(links: Links, clock: MovableClock) -> None:
    """Time moves a link through its states, in its answer and in what lists leave."""
    soon = (clock() + timedelta(hours=1)).isoformat()
    late = (clock() + timedelta(hours=2)).isoformat()
    made = await links.make(link_name="timed", starts_at=soon, expires_at=late)
    await links.make(link_name="always")
    await links.make(link_name="off", is_enabled=False, expires_at=PAST)
    for state in ("not_started", "enabled", "expired"):
        assert (await links.get(made["id"]))["state"] == state
        for asked in ("not_started", "enabled", "expired", "disabled"):
            expected = {"always"} if asked == "enabled" else {"off"} if asked == "disabled" else set()
            expected |= {"timed"} if asked == state else set()
            for query in (f"state={asked}", f"state={asked}&search=shop"):
                assert {link["link_name"] for link in await links.list(query)} == expected
        clock.offset += timedelta(hours=1)


async def test_what_the_passwords_of_a_bulk_cost(
    settings: Settings, organization: TestOrganization, tmp_path: Path
) -> None:
    """Each counts as a request, and each 25 of the other operations as one."""
    async with serving(replace(settings, rate_limit=20, data_dir=tmp_path)) as (_, client):
        links = Links(client, organization)
        creations = [
            {"op": "create", "link": link_body(organization) | fields}
            for fields in ({"password": "kites"}, {"password": None}, {})
        ]
        for operations, left in ((creations[:1], "19"), (creations, "17"), (creations * 3, "13")):
            answer = await links.call("POST", "/bulk", {"operations": operations})
            assert (answer.status_code, answer.headers["RateLimit-Remaining"]) == (200, left)


async def test_passwords_of_one_organization_hold_up_nobody(
    links: Links, make_organization: OrganizationFactory
) -> None:
    """While twenty of its links wait for the hashes of their passwords, one more is told to come later,
    and another organization's has its turn."""
    other = Links(links.client, await make_organization())
    async with stopped(HASHING):
        making = [asyncio.ensure_future(links.post(password="kites")) for _ in range(20)]
        await waits(HASHING, links.organization.id, 20)
        refused = await links.post(password="kites")
        making.append(asyncio.ensure_future(other.post(password="kites")))
        await waits(HASHING, other.organization.id, 1)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert refused.json()["error"]["fieldName"] == "TOO_MUCH_WAITS"
    assert {answer.status_code for answer in await asyncio.gather(*making)} == {201}
