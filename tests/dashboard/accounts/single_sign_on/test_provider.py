"""The owner's forms for the provider, and for who has to use it."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest

from backend.domain.accounts.single_sign_on.provider import IdentityProvider, redirect_uri
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.storage.accounts.organizations import find_entry_rules
from backend.storage.accounts.single_sign_on.refused_sign_ins import note_refusal
from backend.storage.accounts.single_sign_on.settings import find_provider
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from backend.web_client.guarded_network import asking_for, resolve
from tests.dashboard.accounts.single_sign_on.conftest import BASE_URL, Entrance
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.polling import until
from tests.processes.identity_provider.provider_process import Provider

PAGE = "/single-sign-on"
FORM = f"{PAGE}/provider"
NOWHERE = "http://127.0.0.1:9"


async def test_an_owner_sets_the_provider(
    person: Person, organization: TestOrganization, database: Database, providers: list[Provider]
) -> None:
    """The page says where the provider sends people back to, tries it, and never shows the secret."""
    issuer = providers[0].issuer
    assert redirect_uri(BASE_URL, organization.id) in (await person.get(PAGE)).text
    fields = {"issuer": f"{issuer}/.well-known/openid-configuration", "client_id": "waylink"}
    fields |= {"client_secret": "s3cret", "email_domains": "shop.example, @Store.example"}
    saved = await person.send(PAGE, FORM, **fields)
    assert saved.headers["location"] == f"{PAGE}?notice=provider-set"
    domains = ("shop.example", "store.example")
    expected = IdentityProvider(issuer, "waylink", "s3cret", domains)
    assert await find_provider(database, organization.id) == expected
    assert "s3cret" not in (await person.get(PAGE)).text
    await person.send(PAGE, FORM, groups_claim="roles", vouches_for_emails="on")
    kept = IdentityProvider(issuer, "waylink", "s3cret", domains, True, "roles")
    assert await find_provider(database, organization.id) == kept


async def test_what_is_wrong_is_said_at_its_field(
    person: Person, organization: TestOrganization, database: Database, providers: list[Provider]
) -> None:
    """An issuer that is none, that does not answer, or calls itself otherwise; and a missing secret."""
    issuer = providers[0].issuer
    for wrong, problem in (
        ("shop", "must be an absolute http or https URL"),
        ("http://id.shop.example", "must be an https URL"),
        (NOWHERE, f"the discovery document at {NOWHERE}/.well-known/openid-configuration does not answer"),
        (f"{issuer}/", "has a discovery document whose issuer is &#39;"),
        (f"{issuer}/else", "answers with status 404"),
    ):
        refused = await person.send(PAGE, FORM, issuer=wrong, client_id="waylink", client_secret="x")
        assert (refused.status_code, problem in refused.text) == (422, True), refused.text
        assert f'value="{wrong}"' in refused.text
    refused = await person.send(PAGE, FORM, issuer=issuer, client_id="", email_domains="a b!")
    for label in ("Client id", "Client secret", "Domains of e-mail addresses"):
        assert f"</svg>{label} must" in refused.text
    assert await find_provider(database, organization.id) is None


async def test_providers_that_no_name_server_knows_hold_up_no_other(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many hosts an organization tries, half of the threads for look-ups are free for others."""
    release, dead = threading.Event(), list[str]()
    known = socket.getaddrinfo

    def look_up(host: str, *options: Any, **named: Any) -> list[Any]:
        if not str(host).startswith("dead"):
            return known(host, *options, **named)
        dead.append(host)
        release.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    page, fields = await person.get(PAGE), {"client_id": "waylink", "client_secret": "x"}
    tries = [
        asyncio.ensure_future(person.submit(page, FORM, issuer=f"https://dead-{number}.example", **fields))
        for number in range(20)
    ]
    try:
        await until(lambda: len(dead) >= 8, "the look-ups do not begin")
        with asking_for("other"):
            async with asyncio.timeout(5):
                assert await resolve("127.0.0.1", 443) == ["127.0.0.1"]
        assert len(dead) == 8
    finally:
        release.set()
    assert {(await one).status_code for one in tries} == {422}


async def test_another_provider_begins_anew(
    entrance: Entrance, person: Person, database: Database, providers: list[Provider]
) -> None:
    """It does not get the secret of the old one, and whoever came through that is signed out."""
    assert (await entrance.come(person, "IT")).status_code == 303
    await person.send(PAGE, f"{PAGE}/require", required="on")
    assert (await find_entry_rules(database, entrance.org_id)).single_sign_on
    other = providers[1].issuer
    refused = await person.send(PAGE, FORM, issuer=other)
    assert (refused.status_code, "must be typed again" in refused.text) == (422, True)
    saved = await person.send(PAGE, FORM, issuer=other, client_secret="new")
    assert saved.headers["location"] == f"{PAGE}?notice=provider-replaced"
    assert not (await find_entry_rules(database, entrance.org_id)).single_sign_on
    assert (await person.get(PAGE)).headers["location"].startswith("/sign-in")


async def test_only_who_came_through_it_requires_it(
    entrance: Entrance, person: Person, database: Database
) -> None:
    """So that no owner is locked out; and it is taken back on the same page."""
    refused = await person.send(PAGE, f"{PAGE}/require", required="on")
    assert (refused.status_code, "once you came through the provider yourself" in refused.text) == (422, True)
    await entrance.come(person, "IT")
    for value, is_on in (("on", True), ("", False)):
        await person.send(PAGE, f"{PAGE}/require", required=value)
        assert (await find_entry_rules(database, entrance.org_id)).single_sign_on is is_on


async def test_a_provider_is_removed(entrance: Entrance, person: Person, database: Database) -> None:
    """Whoever came through it is signed out, and nobody comes through it any more."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        await person.send(PAGE, f"{PAGE}/remove")
        assert (await guest.get("/links")).headers["location"].startswith("/sign-in")
        assert (await guest.get(entrance.start)).status_code == 404
    assert await find_provider(database, entrance.org_id) is None


async def test_the_owner_sees_who_was_not_let_in(
    entrance: Entrance, person: Person, database: Database
) -> None:
    """With what to do about it, the newest first, and no more than twenty."""
    for number in range(25):
        refused = SignInRefused(Refusal.NO_ROLE, f"groups: <b>{number}</b>\0", "ada@shop.example")
        await note_refusal(database, entrance.org_id, refused, utc_now())
    shown = (await person.get(PAGE)).text
    assert "ada@shop.example" in shown
    assert shown.index("groups: &lt;b&gt;24&lt;/b&gt; ") < shown.index("groups: &lt;b&gt;5&lt;/b&gt; ")
    assert "groups: &lt;b&gt;4&lt;" not in shown
