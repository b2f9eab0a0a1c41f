"""Wrong tries of passwords: whom they keep out, for how long, and what is stored of them."""

from __future__ import annotations

import asyncio
import re
import secrets
import uuid
from datetime import UTC, datetime

import pytest
from pymongo.errors import AutoReconnect

from backend.rate_limits import sign_in_limits
from backend.rate_limits.growing_pause import GrowingPause
from backend.rate_limits.limit import Limit
from backend.rate_limits.sign_in_limits import KNOWN_FOR, SignInLimits
from backend.storage.accounts.users import known_addresses
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.polling import wait_for_async
from tests.rate_limits.counted import counted_now


def an_address() -> str:
    """An address that no other test tries from."""
    return f"2001:db8:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1"


def an_account() -> str:
    """An account that no other test tries."""
    return f"{uuid.uuid4().hex}@example.com"


async def tries(limits: SignInLimits, account: str, address: str, number: int) -> list[bool]:
    """Of so many tries, which ones may go on."""
    visitor = await limits.recognize(account, address)
    return [not await limits.begin_try(visitor) for _ in range(number)]


async def sign_in(limits: SignInLimits, account: str, address: str) -> None:
    """Sign in with the right password."""
    visitor = await limits.recognize(account, address)
    assert not await limits.begin_try(visitor)
    await limits.succeeded(visitor)


async def test_the_pause_grows(database: Database) -> None:
    """Each try is followed by a longer pause than the one before, and by none once it was forgotten."""
    pause = GrowingPause(database, "test", (0.05, 0.2, 100))
    key = uuid.uuid4().hex
    assert await pause.begin(key) == 0
    assert 0 < await pause.begin(key) <= 0.05
    await wait_for_async(lambda: pause.begin(key), "the pause does not end", lambda left: left == 0)
    assert 0.05 < await pause.begin(key) <= 0.2
    await wait_for_async(lambda: pause.begin(key), "the pause does not end", lambda left: left == 0)
    assert 95 < await pause.begin(key) <= 100
    await pause.forget(key)
    assert await pause.begin(key) == 0


async def test_ipv6_counts_by_its_first_half(database: Database) -> None:
    """Who has a network of 2 to the 64 addresses has five tries, not five for each of them."""
    limits = SignInLimits(database, utc_now)
    account, network = an_account(), f"2001:db8:{secrets.token_hex(2)}:1"
    began = [(await tries(limits, account, f"{network}::{number:x}", 1))[0] for number in range(8)]
    assert began == [True] * 5 + [False] * 3
    assert await tries(limits, account, an_address(), 1) == [True]


async def test_many_addresses_do_not_lock_an_account_for_those_it_knows(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tries from everywhere use up what strangers have of an account; whom it knows is not concerned, and
    `forget_account` lets strangers try again."""
    monkeypatch.setattr(sign_in_limits, "OF_ACCOUNT", Limit("sign-in-account", 6, seconds=3600.0))
    limits = SignInLimits(database, utc_now)
    account, home = an_account(), an_address()
    await sign_in(limits, account, home)
    began = [(await tries(limits, account, an_address(), 1))[0] for _ in range(8)]
    assert began == [True] * 6 + [False] * 2
    assert await tries(limits, account, home, 10) == [True] * 10
    await limits.forget_account(account)
    assert await tries(limits, account, an_address(), 1) == [True]


async def test_right_tries_are_not_counted(database: Database) -> None:
    """An office with one address, where fifty people sign in within a minute, is not kept out."""
    limits, office = SignInLimits(database, utc_now), an_address()
    for _ in range(50):
        await sign_in(limits, an_account(), office)


async def test_an_account_forgets_an_address(database: Database) -> None:
    """Sixty days after the last sign-in, and not before; another account never knew it."""
    now = utc_now()
    limits = SignInLimits(database, lambda: now)
    account, address = an_account(), an_address()
    await sign_in(limits, account, address)
    assert not (await limits.recognize(an_account(), address)).is_known
    now += KNOWN_FOR * 0.99
    assert (await limits.recognize(account, address)).is_known
    now += KNOWN_FOR * 0.02
    assert not (await limits.recognize(account, address)).is_known


async def test_an_account_knows_an_address_after_a_short_month(database: Database) -> None:
    """Who signed in in February is known in March and April, although the sixty days may begin in January."""
    now = datetime(utc_now().year + 1, 2, 14, tzinfo=UTC)
    limits = SignInLimits(database, lambda: now)
    account, address = an_account(), an_address()
    await sign_in(limits, account, address)
    for month, day in ((3, 1), (3, 31), (4, 1)):
        now = now.replace(month=month, day=day)
        assert (await limits.recognize(account, address)).is_known, now


async def test_no_address_is_stored(database: Database) -> None:
    """What is kept are hashes with keys that are thrown away, the same in every process."""
    account, address = an_account(), an_address()
    for limits in (SignInLimits(database, utc_now), SignInLimits(database, utc_now)):
        await tries(limits, account, address, 3)
    visitor = await limits.recognize(account, address)
    await limits.succeeded(visitor)
    counted = counted_now(database)
    kept = [str(document) async for document in counted.find({"_id": {"$regex": "^sign-in"}})]
    kept += [str(document) async for document in database[known_addresses.NAME].find()]
    assert not any(visitor.network in text or account in text for text in kept)
    ids = await counted.distinct("_id", {"_id": {"$regex": "^sign-in"}})
    assert len(ids) >= 3
    assert all(re.fullmatch(r"sign-in(-[a-z]+)?/[0-9a-f]{64}", id_) for id_ in ids)


async def test_wrong_codes_are_followed_by_pauses_from_known_addresses_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who signed in from an address may be who guesses there; from all together it is an exact number."""
    monkeypatch.setattr(sign_in_limits, "OF_CODES", Limit("sign-in-code", 7, seconds=3600.0))
    limits, account, address = SignInLimits(database, utc_now), an_account(), an_address()
    await sign_in(limits, account, address)
    known = await limits.recognize(account, address)
    assert known.is_known
    assert [not await limits.begin_code(known) for _ in range(6)] == [True] * 5 + [False]
    await limits.code_succeeded(known)
    assert not await limits.begin_code(known), "a right code ends the pause"
    others = [await limits.recognize(account, an_address()) for _ in range(4)]
    assert [not await limits.begin_code(visitor) for visitor in others] == [True, True, False, False]
    assert [not await limits.begin_try(visitor) for visitor in others] == [True] * 4, "passwords go on"


@pytest.mark.parametrize("kind", ["unknown", "known", "code"])
async def test_what_was_not_tried_is_not_counted(database: Database, kind: str) -> None:
    """Where an error ends a try again and again, the account and the address have as many left as before;
    where it is cancelled they have not, or who hangs up could guess without end."""
    limits = SignInLimits(database, utc_now)
    account, address = an_account(), an_address()
    if kind == "known":
        await sign_in(limits, account, address)
    visitor = await limits.recognize(account, address)
    begin = limits.begin_code if kind == "code" else limits.begin_try
    trying = limits.trying_code if kind == "code" else limits.trying
    for error in [AutoReconnect] * 40:
        assert not await begin(visitor)
        with pytest.raises(error):
            async with trying(visitor):
                raise error
    allowed = 0
    while not await begin(visitor):
        allowed += 1
        with pytest.raises(asyncio.CancelledError):
            async with trying(visitor):
                raise asyncio.CancelledError
    assert allowed == (30 if kind == "known" else 5)


@pytest.mark.parametrize("kind", ["password", "code"])
async def test_tries_that_a_limit_refuses_count_nowhere(
    database: Database, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Where others have used up what an account or an address has, nothing is tried, so that no pause grows;
    and what a pause refuses takes nothing of the address's."""
    monkeypatch.setattr(sign_in_limits, "OF_ACCOUNT", Limit("sign-in-account", 2, seconds=3600.0))
    monkeypatch.setattr(sign_in_limits, "OF_CODES", Limit("sign-in-code", 2, seconds=3600.0))
    limits, account = SignInLimits(database, utc_now), an_account()
    visitor, *others = [await limits.recognize(account, an_address()) for _ in range(3)]
    begin = limits.begin_code if kind == "code" else limits.begin_try
    for other in others:
        assert not await begin(other)
    for _ in range(9):
        assert await begin(visitor) > 60
    if kind == "password":
        await limits.forget_account(account)
    else:
        await limits._of_codes.forget(await limits._hashes.hash(account))
    assert not await begin(visitor), "the pause has not grown"


async def test_pauses_take_nothing_of_an_address(database: Database) -> None:
    """Who is impatient with one account from an office keeps no colleague out."""
    limits, office, account = SignInLimits(database, utc_now), an_address(), an_account()
    assert await tries(limits, account, office, 40) == [True] * 5 + [False] * 35
    for _ in range(25):
        assert await tries(limits, an_account(), office, 1) == [True]
