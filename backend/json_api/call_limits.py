"""Limits of what browsers and apps send, and of requests without a valid key."""

from __future__ import annotations

from math import ceil

from backend.current import resources, visitor_network
from backend.domain.api_keys import ApiKey, KeyKind
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.json_api.refusal import Refusal
from backend.rate_limits.service_limits import (
    CALLS_OF_ADDRESS,
    CALLS_OF_KEY,
    INSTALLS_OF_ADDRESS,
    WITHOUT_KEY,
    address_in,
)


def count_calls(key: ApiKey, amount: int = 1) -> None:
    """Count calls of a browser or an app; refuses them where its address or its key has sent too many.

    The address counts first: what it is refused takes nothing from the key, which all visitors share.
    """
    limits, org_id = resources().rate_limits, key.org_id
    network = visitor_network()  # "" over a Unix socket, where a proxy does not tell it
    state = limits.calls_of_address.count(address_in(org_id, network), amount)
    if network and not state.allowed:
        raise refused(error_table.ADDRESS_LIMIT_EXCEEDED, CALLS_OF_ADDRESS, state.reset_after, org_id)
    state = limits.calls_of_key.count(key.id, amount)
    if not state.allowed:
        raise refused(error_table.RATE_LIMIT_EXCEEDED, CALLS_OF_KEY, state.reset_after, org_id)


async def count_install(org_id: str) -> None:
    """Count a new install; refuses it where its address has reported too many."""
    network = visitor_network()
    if network and (seconds := await resources().rate_limits.count_install(org_id, network)):
        raise refused(error_table.ADDRESS_LIMIT_EXCEEDED, INSTALLS_OF_ADDRESS, seconds, org_id)


async def find_key(text: str, kind: KeyKind) -> ApiKey | None:
    """The valid key of this kind with this text, or None, which is counted against the address.

    An address that sent too many is refused before a key is looked up, unless this process has met the key:
    who has a valid one does not suffer from others at the same address.
    """
    keys = resources().keys
    is_new = not keys.has_met(text)
    if is_new:
        count_without_key()
    key = await keys.find(text, kind)
    if is_new and key:
        give_back_without_key()
    elif not is_new and not key:
        count_without_key()
    return key


def count_without_key() -> None:
    """Count a request without a valid key; refuses it where the address has sent too many."""
    network = visitor_network()
    state = resources().rate_limits.without_key.count(network)
    if network and not state.allowed:
        raise refused(error_table.ADDRESS_LIMIT_EXCEEDED, WITHOUT_KEY, state.reset_after, None)


def give_back_without_key() -> None:
    """Take back what was counted: the request was a valid one."""
    resources().rate_limits.without_key.give_back(visitor_network())


def refused(row: ErrorRow, limit: str, seconds: float, org_id: str | None) -> Refusal:
    """The refusal by a limit, counted for its organization where it is known."""
    resources().rate_limits.refused.add(limit, org_id)
    return Refusal(row).with_headers({"Retry-After": str(ceil(seconds))})
