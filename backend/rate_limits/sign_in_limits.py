"""Limits on tries of passwords and codes, by account and address together (decisions, "sign-in-limits")."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.web.addresses import network_of
from backend.rate_limits.address_hashes import AddressHashes, keyed_hash
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.growing_pause import GrowingPause
from backend.rate_limits.limit import Limit
from backend.rate_limits.untried import (
    TryCount,
    begin_try_in,
    in_limit,
    in_pause,
    undo_try_in,
    undone_after_errors,
)
from backend.storage.accounts.users.known_addresses import add_known_address, is_known_address
from backend.storage.clicks.address_keys import address_key_of_month, find_address_keys
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock

# Seconds to wait after each wrong try for one account from one address. A typing error costs nothing.
PAUSES = (0, 0, 0, 0, 15, 30, 60, 120, 240, 480, 900, 1800, 3600)
# Wrong tries from one address, whichever account they are for.
OF_ADDRESS = Limit("sign-in-address", 30)
# Wrong tries of one account from all addresses together that it has not signed in from.
OF_ACCOUNT = Limit("sign-in-account", 200, seconds=3600.0)
# Wrong tries of one account from an address that it has signed in from.
OF_KNOWN_ADDRESS = Limit("sign-in-known", 30)
# Wrong codes of one account's second factor from all addresses together: three of a million hold at a time.
OF_CODES = Limit("sign-in-code", 30, seconds=3600.0)
KNOWN_FOR = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who tries to sign in: the account as it was typed, and the address.

    `is_known`: somebody has signed in to this account from this address before.
    """

    account: str
    network: str
    is_known: bool

    @property
    def pair(self) -> str:
        """The account and the address as one text."""
        return _pair(self.account, self.network)


class SignInLimits:
    """Limits wrong tries. Whoever signed in from the same address before can't be locked out by others."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._hashes = AddressHashes(database)
        self._pauses = GrowingPause(database, "sign-in", PAUSES)
        self._of_address = ExactLimit(database, OF_ADDRESS)
        self._of_account = ExactLimit(database, OF_ACCOUNT)
        self._of_known = ExactLimit(database, OF_KNOWN_ADDRESS)
        self._of_codes = ExactLimit(database, OF_CODES)

    async def recognize(self, account: str, address: str) -> Visitor:
        """The visitor; `is_known` if the account was signed in to from there in the last sixty days."""
        network = network_of(address) or address
        now = self._clock()
        keys = await find_address_keys(self._database, _months(now))
        hashes = [keyed_hash(key, _pair(account, network)) for key in keys]
        is_known = bool(hashes) and await is_known_address(self._database, hashes, now)
        return Visitor(account, network, is_known)

    async def begin_try(self, visitor: Visitor) -> float:
        """Count a try as wrong. Returns 0, or the seconds to wait: then the try is not allowed."""
        return await begin_try_in(await self._counts(visitor))

    async def begin_code(self, visitor: Visitor) -> float:
        """Count a code of the second factor as wrong. Returns 0, or the seconds to wait, as `begin_try`.

        Who sends one has the password, so that only the account's own people can be locked out, by somebody
        who has it too; and an address that signed in before may be that one's.
        """
        return await begin_try_in(await self._counts_of_code(visitor))

    @asynccontextmanager
    async def trying(self, visitor: Visitor) -> AsyncIterator[None]:
        """A block that checks the password of a try that has begun. An error in it undoes the try's count."""

        async def undo() -> None:
            await undo_try_in(await self._counts(visitor))

        async with undone_after_errors(undo):
            yield

    @asynccontextmanager
    async def trying_code(self, visitor: Visitor) -> AsyncIterator[None]:
        """The same for a code of the second factor."""

        async def undo() -> None:
            await undo_try_in(await self._counts_of_code(visitor))

        async with undone_after_errors(undo):
            yield

    async def give_back(self, visitor: Visitor) -> None:
        """Undo the count of a try whose password was right.

        The pauses between tries go on growing: who has the password alone can't begin anew with it.
        """
        await undo_try_in(await self._limits(visitor))

    async def succeeded(self, visitor: Visitor) -> None:
        """Undo the count of a correct try, and remember the address for this account."""
        await self.give_back(visitor)
        await self._remember(visitor)

    async def code_succeeded(self, visitor: Visitor) -> None:
        """The same of a correct code, once the count of its password was undone."""
        await self._of_codes.give_back(await self._hashes.hash(visitor.account))
        await self._remember(visitor)

    async def _counts(self, visitor: Visitor) -> list[TryCount]:
        """The counts of tries of a password."""
        pause = [] if visitor.is_known else [await self._pause(visitor)]
        return pause + await self._limits(visitor)

    async def _limits(self, visitor: Visitor) -> list[TryCount]:
        if visitor.is_known:
            return [in_limit(self._of_known, await self._hashes.hash(visitor.pair))]
        return [
            in_limit(self._of_address, await self._hashes.hash(visitor.network)),
            in_limit(self._of_account, await self._hashes.hash(visitor.account)),
        ]

    async def _counts_of_code(self, visitor: Visitor) -> list[TryCount]:
        limit = in_limit(self._of_codes, await self._hashes.hash(visitor.account))
        return [await self._pause(visitor), limit]

    async def _pause(self, visitor: Visitor) -> TryCount:
        return in_pause(self._pauses, await self._hashes.hash(visitor.pair))

    async def _remember(self, visitor: Visitor) -> None:
        await self._pauses.forget(await self._hashes.hash(visitor.pair))
        now = self._clock()
        key = await address_key_of_month(self._database, month_of(now))
        await add_known_address(self._database, keyed_hash(key, visitor.pair), now + KNOWN_FOR)

    async def forget_account(self, account: str) -> None:
        """Forget wrong tries for this account from addresses that are not known for it."""
        await self._of_account.forget(await self._hashes.hash(account))


def month_of(moment: datetime) -> str:
    """The month of this time, such as 2026-01. Its key hashes addresses."""
    return moment.strftime("%Y-%m")


def _months(now: datetime) -> list[str]:
    """The months whose keys may have hashed addresses that are still remembered."""
    return sorted({month_of(now - timedelta(days=days)) for days in range(KNOWN_FOR.days + 1)})


def _pair(account: str, network: str) -> str:
    return f"{account}\n{network}"
