"""Sign-ins by a provider that are refused, and what is said about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from backend.domain.accounts.single_sign_on.refusals import REFUSAL_WORDS, Refusal
from backend.storage.accounts.single_sign_on.settings import find_provider, set_provider
from backend.storage.accounts.users.users import find_user_by_email
from tests.conftest import MovableClock
from tests.dashboard.accounts.single_sign_on.conftest import Entrance


def changed(address: str, **arguments: str) -> str:
    """The address with other values of these arguments."""
    parts = urlsplit(address)
    return parts._replace(query=urlencode(dict(parse_qsl(parts.query)) | arguments)).geturl()


@pytest.mark.parametrize(
    ("claims", "refusal"),
    [
        ({"email_verified": False}, Refusal.EMAIL_NOT_VERIFIED),
        ({"email_verified": None}, Refusal.EMAIL_NOT_VERIFIED),
        ({"email": None}, Refusal.NO_EMAIL),
        ({"groups": []}, Refusal.NO_ROLE),
    ],
)
async def test_who_is_not_let_in(entrance: Entrance, claims: dict[str, object], refusal: Refusal) -> None:
    """The person reads what to do next, the owner sees it, and nobody was made."""
    async with entrance.guest() as guest:
        refused = await entrance.come(guest, "Marketing", **claims)
        assert refused.status_code == 403
        for words in (REFUSAL_WORDS[refusal].title, REFUSAL_WORDS[refusal].next_step):
            assert words in refused.text
        assert [told.refusal for told in await entrance.refusals()] == [refusal]
        assert await find_user_by_email(entrance.database, guest.email) is None


async def test_addresses_of_other_domains_and_unverified_ones(entrance: Entrance) -> None:
    """Domains are those that the owner names, who can also vouch for addresses that nobody calls verified."""
    provider = await find_provider(entrance.database, entrance.org_id)
    assert provider is not None
    other = replace(provider, email_domains=("elsewhere.example",), vouches_for_emails=True)
    await set_provider(entrance.database, entrance.org_id, other)
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing", email_verified=None)
        assert [told.refusal for told in await entrance.refusals()] == [Refusal.OTHER_DOMAIN]
        await set_provider(
            entrance.database, entrance.org_id, replace(other, email_domains=("shop.example",))
        )
        assert (await entrance.come(guest, "Marketing", email_verified=None)).status_code == 303
        guest.client.cookies.clear()
        await set_provider(entrance.database, entrance.org_id, other)
        assert (await entrance.come(guest, "Marketing")).status_code == 403


async def test_an_address_that_another_person_gets(entrance: Entrance) -> None:
    """A new colleague with the address of one who left does not get that one's account."""
    async with entrance.guest() as guest, entrance.guest() as heir:
        await entrance.come(guest, "Marketing")
        refused = await entrance.come(heir, "Marketing", email=guest.email)
        assert (refused.status_code, "belongs to another person" in refused.text) == (403, True)


async def test_answers_that_were_not_asked_for(entrance: Entrance) -> None:
    """A wrong nonce, another state, another browser, another issuer, a code that was used."""
    async with entrance.guest() as guest, entrance.guest() as victim:
        await entrance.has(guest, "Marketing")
        begun = await entrance.begin(guest)
        back = await entrance.provider.visit(changed(begun, nonce="another"), guest.email)
        assert "is not valid" in (await entrance.arrive(guest, back)).text
        back = await entrance.provider.visit(begun, guest.email)
        for wrong in (changed(back, state="x" * 80), changed(back, state="")):
            assert "not begun in this browser" in (await entrance.arrive(guest, wrong)).text
        assert "not begun in this browser" in (await entrance.arrive(victim, back)).text
        wrong = changed(back, iss="https://evil.example")
        assert "is not valid" in (await entrance.arrive(guest, wrong)).text
        assert (await entrance.arrive(guest, back)).status_code == 303
        assert "not begun in this browser" in (await entrance.arrive(guest, back)).text
        refusals = [(told.refusal, told.detail) for told in await entrance.refusals()]
        assert refusals == [
            (Refusal.INVALID_TOKEN, "iss of the answer is https://evil.example"),
            (Refusal.INVALID_TOKEN, "nonce of the ID token is not right"),
        ]


async def test_refusals_on_the_way(entrance: Entrance, clock: MovableClock) -> None:
    """Who stops at the provider, who takes too long, and clocks that differ."""
    async with entrance.guest() as guest:
        await entrance.has(guest, "Marketing")
        stopped = await entrance.arrive(guest, await entrance.provider.refuse(await entrance.begin(guest)))
        assert "did not let you go on" in stopped.text
        back = await entrance.provider.visit(await entrance.begin(guest), guest.email)
        clock.offset = timedelta(minutes=11)
        assert "That took too long" in (await entrance.arrive(guest, back)).text
        for offset in (timedelta(hours=2), timedelta(hours=-2)):
            clock.offset = offset
            assert "The clocks of your identity provider" in (await entrance.come(guest, "Marketing")).text
        told = [told.refusal for told in await entrance.refusals()]
        assert sorted(told) == [Refusal.CLOCK, Refusal.CLOCK, Refusal.DENIED, Refusal.EXPIRED]


async def test_a_secret_that_is_not_right_any_more(entrance: Entrance) -> None:
    """The person is told whom to ask, the owner which field it is."""
    provider = await find_provider(entrance.database, entrance.org_id)
    assert provider is not None
    await set_provider(entrance.database, entrance.org_id, replace(provider, client_secret="old"))
    async with entrance.guest() as guest:
        assert "refuses this service" in (await entrance.come(guest, "Marketing")).text
        (told,) = await entrance.refusals()
        assert (told.refusal, "client secret" in told.for_owner) == (Refusal.CLIENT_REFUSED, True)
