"""Rate limits for calls of browsers and apps, and for requests without a valid key."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.ids import InstallId, OrgId
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.error_table import ErrorRow
from backend.rate_limits.service_limits import (
    CALLS_OF_ADDRESS,
    CALLS_OF_KEY,
    INSTALLS_OF_ADDRESS,
    LINKS_OF_INSTALL,
    WITHOUT_KEY,
    ServiceLimits,
    address_in,
)
from backend.storage.driver.mongo import StorageError
from backend.web.current import Resources, resources, visitor_network


def sender() -> Sender:
    """Who sent the current request."""
    return Sender(resources(), visitor_network())


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of a request, for rate limits. `network` is its address; of IPv6, the prefix that counts.

    `network` is "" over a Unix socket whose proxy does not send the address.
    """

    resources: Resources
    network: str

    def count_calls(self, key: ApiKey, amount: int = 1) -> None:
        """Count `amount` calls of a browser or an app.

        Raises ApiError if its address or its key has sent too many. The address is checked first. Calls
        refused there do not count against the key, which all visitors of a site share.
        """
        limits, org_id = self.resources.rate_limits, key.org_id
        state = limits.calls_of_address.count(address_in(org_id, self.network), amount)
        if self.network and not state.allowed:
            row = error_table.ADDRESS_LIMIT_EXCEEDED
            raise limit_error(limits, row, CALLS_OF_ADDRESS, state.reset_after, org_id)
        state = limits.calls_of_key.count(key.id, amount)
        if not state.allowed:
            raise limit_error(
                limits, error_table.RATE_LIMIT_EXCEEDED, CALLS_OF_KEY, state.reset_after, org_id
            )

    async def count_install(self, org_id: OrgId) -> None:
        """Count a new install. Raises ApiError if its address has reported too many."""
        limits = self.resources.rate_limits
        if self.network and (seconds := await limits.count_install(org_id, self.network)):
            raise limit_error(
                limits, error_table.ADDRESS_LIMIT_EXCEEDED, INSTALLS_OF_ADDRESS, seconds, org_id
            )

    async def count_link_of_app(self, org_id: OrgId, install_id: InstallId) -> None:
        """Count a link that an app makes, as a new install of its address too.

        Raises ApiError if the installation, or its address, has made too many.
        """
        limits = self.resources.rate_limits
        if seconds := await limits.count_link_of_app(org_id, install_id):
            row = error_table.INSTALL_LIMIT_EXCEEDED
            raise limit_error(limits, row, LINKS_OF_INSTALL, seconds, org_id)
        await self.count_install(org_id)

    async def find_key(self, text: str, kind: KeyKind) -> ApiKey | None:
        """The active key of this kind with this text; None if there is none, which counts against the
        address.

        An address that sent too many wrong keys is refused (ApiError) without a look-up, unless this process
        already knows the key: so a valid key still works when others at the same address misbehave.
        """
        keys = self.resources.keys
        if key := keys.cached(text, kind):  # nearly always
            return key
        is_new = not keys.was_active(text)
        if is_new:
            self.count_without_key()
        try:
            key = await keys.find(text, kind)
        except StorageError:
            if is_new:  # it may well be valid, and its sender does not make the database fail
                self.give_back_without_key()
            raise
        if is_new and key:
            self.give_back_without_key()
        elif not is_new and not key:
            self.count_without_key()
        return key

    def count_without_key(self) -> None:
        """Count a request without a valid key. Raises ApiError if its address has sent too many."""
        limits = self.resources.rate_limits
        state = limits.without_key.count(self.network)
        if self.network and not state.allowed:
            raise limit_error(
                limits, error_table.ADDRESS_LIMIT_EXCEEDED, WITHOUT_KEY, state.reset_after, None
            )

    def give_back_without_key(self) -> None:
        """Undo `count_without_key`: the request turned out to be valid."""
        self.resources.rate_limits.without_key.give_back(self.network)


def limit_error(
    limits: ServiceLimits, row: ErrorRow, limit: str, seconds: float, org_id: OrgId | None
) -> ApiError:
    """The error for a request that a rate limit refuses, to be raised by the caller.

    `limit` is the limit's name, and `seconds` the time until a new try makes sense. The request is also
    counted as refused, for its organization if that is known.
    """
    limits.rate_limited_counts.add(limit, org_id)
    return ApiError(row).with_headers({"Retry-After": str(ceil(seconds))})
