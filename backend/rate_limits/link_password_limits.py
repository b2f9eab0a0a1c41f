"""Limits on tries of the password of a link or a report, by this and address together.

See decisions, "link-passwords".
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.domain.web.addresses import network_of
from backend.rate_limits.address_hashes import AddressHashes
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.growing_pause import GrowingPause
from backend.rate_limits.limit import Limit
from backend.rate_limits.sign_in_limits import PAUSES
from backend.rate_limits.untried import (
    TryCount,
    begin_try_in,
    in_limit,
    in_pause,
    undo_try_in,
    undone_after_errors,
)
from backend.storage.driver.mongo import Database

# Wrong tries from one address, whatever they are for.
OF_ADDRESS = Limit("link-password-address", 30)
# Wrong tries of one link or report from all addresses together.
OF_LINK = Limit("link-password", 1_000, seconds=3600.0)


class LinkPasswordLimits:
    """Limits wrong tries, with the same growing pauses as sign-ins."""

    def __init__(self, database: Database, hashes: AddressHashes) -> None:
        self._hashes = hashes
        self._pauses = GrowingPause(database, "link-password", PAUSES)
        self._of_address = ExactLimit(database, OF_ADDRESS)
        self._of_link = ExactLimit(database, OF_LINK)

    async def begin_try(self, protected_id: str, address: str) -> float:
        """Count a try as wrong. Returns 0, or the seconds to wait: then the try is not allowed.

        Raises StorageError if the database can't be asked: then no try is allowed either.
        """
        return await begin_try_in(await self._counts(protected_id, address))

    @asynccontextmanager
    async def trying(self, protected_id: str, address: str) -> AsyncIterator[None]:
        """A block that checks the password of a try that has begun. An error in it undoes the try's count."""

        async def undo() -> None:
            await undo_try_in(await self._counts(protected_id, address))

        async with undone_after_errors(undo):
            yield

    async def succeeded(self, protected_id: str, address: str) -> None:
        """Undo the count of a correct try."""
        _, *limits = await self._counts(protected_id, address)
        await self._pauses.forget(await self._pair(protected_id, address))
        await undo_try_in(limits)

    async def _counts(self, protected_id: str, address: str) -> list[TryCount]:
        network = network_of(address) or address
        return [
            in_pause(self._pauses, await self._pair(protected_id, address)),
            in_limit(self._of_address, await self._hashes.hash(network)),
            in_limit(self._of_link, await self._hashes.hash(protected_id)),
        ]

    async def _pair(self, protected_id: str, address: str) -> str:
        return await self._hashes.hash(f"{protected_id}\n{network_of(address) or address}")
