"""Signing in and out, and what a session is."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from argon2 import PasswordHasher
from pymongo.errors import AutoReconnect

from backend.app import Service, create_app
from backend.dashboard.accounts.users import sign_in
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import SESSION_DURATION, hash_token
from backend.settings import Settings
from backend.storage.accounts.users import passwords, sessions, users
from backend.storage.accounts.users.passwords import HASHING, hash_password
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.people import PASSWORD, Person, browser, heading, make_user
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.stopped_thread import waits


def token(person: Person) -> str:
    """The token in the browser's cookie."""
    return person.client.cookies["waylink"]


async def guess(person: Person, page: httpx.Response) -> httpx.Response:
    """Send the sign-in form of a page that is open, with a wrong password."""
    return await person.submit(page, "/sign-in", email=person.email, password="a guess")


async def test_a_page_sends_who_is_not_signed_in_to_the_sign_in_and_back(stranger: Person) -> None:
    """The page that was asked for is what comes after the sign-in."""
    asked = await stranger.get("/?notice=signed-out")
    assert (asked.status_code, asked.headers["Location"]) == (303, "/sign-in?next=%2F%3Fnotice%3Dsigned-out")
    answer = await stranger.sign_in(next="%2F%3Fnotice%3Dsigned-out")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?notice=signed-out")
    assert heading(await stranger.get("/tags")) == "Tags"


async def test_the_sign_in_leads_to_no_other_site(stranger: Person) -> None:
    """Whatever the address of the sign-in page says, one goes on within the dashboard."""
    for next in (
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example",
        "javascript:alert(1)", "/\n/evil.example", " //evil.example", "/\t/evil.example", "evil", "",
    ):  # fmt: skip
        answer = await stranger.sign_in(next=quote(next))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/"), next
        stranger.client.cookies.clear()


async def test_unknown_users_and_wrong_passwords_look_alike(stranger: Person, database: Database) -> None:
    """The page is the same byte for byte but for the address typed and the challenge for a passkey."""
    wrong = await stranger.sign_in(password="not the password")
    known_email, stranger.email = stranger.email, f"x{stranger.email[1:]}"
    assert await users.find_user_by_email(database, stranger.email) is None
    unknown = await stranger.sign_in(password="not the password")
    assert wrong.status_code == unknown.status_code == 422
    told = [
        re.sub(r"data-passkey-get=\"[^\"]*\"", "", answer.text).replace(email, "")
        for answer, email in ((wrong, known_email), (unknown, stranger.email))
    ]
    assert told[0] == told[1]
    assert "The e-mail address or the password is not right." in wrong.text


@pytest.mark.usefixtures("true_hashes")
async def test_an_unknown_user_costs_as_much_as_a_wrong_password(
    stranger: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both compare the password with one hash of the same parameters."""
    compared: list[str] = []
    verify = passwords._hasher.verify

    def counted(password_hash: str, password: str) -> bool:
        compared.append(password_hash.rpartition("$")[0].rpartition("$")[0])
        return bool(verify(password_hash, password))

    monkeypatch.setattr(passwords, "_hasher", _Recording(counted))
    await stranger.sign_in(password="not the password")
    stranger.email = "nobody@example.com"
    await stranger.sign_in(password="not the password")
    stranger.email = "no address at all"
    await stranger.sign_in(password="not the password")
    assert len(compared) == 3
    assert len(set(compared)) == 1


class _Recording:
    """The hasher, with another `verify`."""

    def __init__(self, verify: object) -> None:
        self.verify = verify


async def test_the_address_is_compared_without_case(stranger: Person) -> None:
    """An e-mail address typed in capitals is the same address."""
    stranger.email = f" {stranger.email.upper()} "
    assert (await stranger.sign_in()).status_code == 303


async def test_only_a_hash_of_the_token_is_stored(person: Person, database: Database) -> None:
    """Who reads the database can't sign in with what is there."""
    stored = await database[sessions.NAME].find_one({"_id": hash_token(token(person))})
    assert stored is not None
    assert token(person) not in str(stored)


async def test_a_sign_in_makes_a_new_token(stranger: Person, database: Database, service: Service) -> None:
    """A token that somebody planted in the browser before the sign-in opens nothing after it."""
    await stranger.get("/sign-in")
    planted = token(stranger)
    await stranger.sign_in()
    assert token(stranger) != planted
    async with browser(service) as other:
        other.cookies["waylink"] = planted
        assert (await other.get("/")).status_code == 303


async def test_signing_in_again_ends_the_session_before(person: Person, service: Service) -> None:
    """The old token of the same browser is worth nothing."""
    old = token(person)
    await person.send("/tags", "/sign-out")
    await person.sign_in()
    async with browser(service) as other:
        other.cookies["waylink"] = old
        assert (await other.get("/")).status_code == 303


async def test_signing_out_ends_the_session_on_the_server(
    person: Person, database: Database, service: Service
) -> None:
    """The token is deleted, so that a copy of the cookie is worth nothing."""
    old = token(person)
    answer = await person.send("/tags", "/sign-out")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?notice=signed-out")
    assert await database[sessions.NAME].find_one({"_id": hash_token(old)}) is None
    async with browser(service) as other:
        other.cookies["waylink"] = old
        assert (await other.get("/")).status_code == 303


async def test_a_session_expires(person: Person, clock: MovableClock) -> None:
    """A week after the sign-in, and not before, however much it was used."""
    clock.offset = SESSION_DURATION - timedelta(minutes=1)
    assert (await person.get("/tags")).status_code == 200
    clock.offset = SESSION_DURATION + timedelta(seconds=1)
    assert (await person.get("/")).status_code == 303


async def test_the_server_deletes_expired_sessions(database: Database) -> None:
    """MongoDB itself deletes what has expired."""
    indexes = await database[sessions.NAME].index_information()
    assert any(index.get("expireAfterSeconds") == 0 for index in indexes.values())


async def test_a_deleted_user_is_signed_out(person: Person, database: Database) -> None:
    """A session without its user is no session."""
    user = await users.find_user_by_email(database, person.email)
    assert user is not None
    await users.delete_user(database, user.id)
    assert (await person.get("/")).status_code == 303


async def test_the_cookie_over_http(stranger: Person) -> None:
    """On plain http: not for scripts, not sent from other sites."""
    cookie = (await stranger.get("/sign-in")).headers["Set-Cookie"]
    assert cookie.startswith("waylink=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie


async def test_the_cookie_over_https(settings: Settings) -> None:
    """Where the public address is https: only over https, for this host alone, by its name's prefix too."""
    secured = create_app(replace(settings, base_url="https://links.shop.example"))
    await secured.startup()
    async with browser(secured, "https://links.shop.example") as client:
        cookie = (await client.get("/sign-in")).headers["Set-Cookie"]
    await secured.shutdown()
    assert cookie.startswith("__Host-waylink=")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


async def test_wrong_tries_are_limited_for_an_account_and_an_address(
    stranger: Person, service: Service
) -> None:
    """After five wrong tries even the right password waits there, and the page says how long; from elsewhere
    it opens at once."""
    page = await stranger.get("/sign-in")
    for _ in range(5):
        assert (await guess(stranger, page)).status_code == 422
    refused = await stranger.sign_in()
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 15
    assert "Too many wrong tries. Wait 1" in refused.text
    async with browser(service) as elsewhere:
        assert (await Person(elsewhere, stranger.email).sign_in()).status_code == 303


async def test_an_address_that_signed_in_before_is_not_locked_out(stranger: Person, service: Service) -> None:
    """Neither wrong tries from there nor those of others keep it out."""
    assert (await stranger.sign_in()).status_code == 303
    await stranger.send("/tags", "/sign-out")
    async with browser(service) as attacker:
        page = await attacker.get("/sign-in")
        tries = [await guess(Person(attacker, stranger.email), page) for _ in range(8)]
        assert [answer.status_code for answer in tries] == [422] * 5 + [429] * 3
    page = await stranger.get("/sign-in")
    for _ in range(12):
        assert (await guess(stranger, page)).status_code == 422
    assert (await stranger.sign_in()).status_code == 303


async def test_the_owner_does_not_wait_behind_many_tries(
    stranger: Person, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 30 tries at once all but some are sent away, and told when to come again; who has signed in from
    the same address before is among the next two."""
    assert (await stranger.sign_in()).status_code == 303
    await stranger.send("/tags", "/sign-out")
    compared: list[str] = []
    gate = threading.Event()
    verify = passwords._verify

    def waiting(password: str, password_hash: str | None) -> bool:
        compared.append(password)
        assert gate.wait(60)
        return verify(password, password_hash)

    monkeypatch.setattr(passwords, "_verify", waiting)
    async with AsyncExitStack() as opened:
        crowd = [
            Person(await opened.enter_async_context(browser(service)), f"{number}@example.com")
            for number in range(30)
        ]
        tries = [asyncio.create_task(visitor.sign_in("a guess")) for visitor in crowd]
        await wait_for_async(
            lambda: asyncio.sleep(0, sum(task.done() for task in tries)), "not shed", lambda done: done == 10
        )
        owner = asyncio.create_task(stranger.sign_in())
        await waits(HASHING, "known sign-ins", 1)
        gate.set()
        answers = await asyncio.gather(*tries)
        assert (await owner).status_code == 303
    assert Counter(answer.status_code for answer in answers) == {422: 20, 503: 10}
    assert compared.index(PASSWORD) <= 2
    shed = next(answer for answer in answers if answer.status_code == 503)
    assert shed.headers["Retry-After"] == "3"
    assert "Too many people sign in at this moment. Wait 3 seconds" in shed.text


async def test_sign_ins_are_limited_for_an_address(
    service: Service, database: Database, organization: TestOrganization
) -> None:
    """Who tries one account after the other from one address is stopped as well."""
    transport = httpx.ASGITransport(app=service, client=("203.0.113.77", 40000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        page = await client.get("/sign-in")
        tries = [await guess(Person(client, f"user{n}@example.com"), page) for n in range(31)]
        right = Person(client, await make_user(database, organization.id))
        assert [answer.status_code for answer in tries] == [422] * 30 + [429]
        assert (await right.sign_in()).status_code == 429


async def test_nobody_picks_an_address_behind_a_proxy(settings: Settings, tmp_path: Path) -> None:
    """A visitor's own X-Forwarded-For line, with another address at each try, changes nothing: the proxy adds
    a line of its own."""
    service = create_app(replace(settings, data_dir=tmp_path, trusted_proxies=("10.0.0.0/8",)))
    await service.startup()
    transport = httpx.ASGITransport(app=service, client=("10.0.0.1", 40000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        statuses, page = [], None
        for number in range(31):
            forged, seen = ("x-forwarded-for", f"198.51.100.{number}"), ("x-forwarded-for", "203.0.113.78")
            client.headers = httpx.Headers([forged, seen])
            page = page or await client.get("/sign-in")
            answer = await guess(Person(client, f"user{number}@example.com"), page)
            statuses.append(answer.status_code)
    await service.shutdown()
    assert statuses == [422] * 30 + [429]


async def test_a_user_without_an_organization_can_not_sign_in(service: Service, database: Database) -> None:
    """There is nothing that such a user could see."""
    async with browser(service) as client:
        person = Person(client, await make_user(database))
        assert (await person.sign_in()).status_code == 422


async def test_who_is_signed_in_skips_the_sign_in_page(person: Person) -> None:
    """The page goes on to where one wanted to go."""
    answer = await person.get("/sign-in?next=/%3Fa%3D1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?a=1")


async def test_a_hash_of_older_parameters_is_renewed(stranger: Person, database: Database) -> None:
    """A sign-in stores the password under today's parameters."""
    user = await users.find_user_by_email(database, stranger.email)
    assert user is not None
    old = PasswordHasher(time_cost=1, memory_cost=8192).hash(PASSWORD)
    await users.renew_password_hash(database, user, old)
    assert (await stranger.sign_in()).status_code == 303
    renewed = await users.find_user_by_email(database, stranger.email)
    assert renewed is not None
    assert renewed.password_hash
    assert renewed.password_hash.split("$")[3] == (await hash_password("x", "a")).split("$")[3]


async def test_sign_ins_at_once(service: Service, database: Database, organization: TestOrganization) -> None:
    """Several people who sign in at the same moment all get in, each with a session of their own."""
    people = [Person(browser(service), await make_user(database, organization.id)) for _ in range(5)]
    answers = await asyncio.gather(*(visitor.sign_in() for visitor in people))
    assert [answer.status_code for answer in answers] == [303] * 5
    assert len({token(visitor) for visitor in people}) == 5
    for visitor in people:
        await visitor.client.aclose()


async def test_organizations_of_a_user(
    person: Person, database: Database, make_organization: OrganizationFactory, organization: TestOrganization
) -> None:
    """A user of two organizations switches between them, and to no third."""
    second, third = await make_organization(), await make_organization()
    user = await users.find_user_by_email(database, person.email)
    assert user is not None
    await users.set_roles(database, user.id, dict.fromkeys((organization.id, second.id), Role.OWNER))
    assert (await person.send("/tags", "/organization", org_id=second.id)).status_code == 303
    stored = await database[sessions.NAME].find_one({"_id": hash_token(token(person))})
    assert stored is not None
    assert stored["org_id"] == second.id
    assert (await person.send("/tags", "/organization", org_id=third.id)).status_code == 404
    await users.set_roles(database, user.id, {organization.id: Role.OWNER})
    assert (await person.get("/tags")).status_code == 200
    stored = await database[sessions.NAME].find_one({"_id": hash_token(token(person))})
    assert stored is not None
    assert stored["org_id"] == organization.id


async def test_what_was_not_tried_is_not_counted(stranger: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes while MongoDB does not answer has given no wrong password, however often they try."""

    async def find(*_: object) -> None:
        raise AutoReconnect("gone")

    with monkeypatch.context() as patch:
        patch.setattr(sign_in, "find_user_by_email", find)
        for _ in range(7):
            assert (await stranger.sign_in()).status_code == 503
    assert (await stranger.sign_in()).status_code == 303
