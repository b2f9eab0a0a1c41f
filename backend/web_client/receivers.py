"""Sends events to receivers that organizations name."""

from __future__ import annotations

from collections.abc import Mapping

from backend.version import VERSION
from backend.web_client.guarded_client import GuardedAnswer, GuardedClient
from backend.web_client.guarded_network import GuardedNetwork, Resolve, resolve

SECONDS = 15.0
MOST_BYTES = 16 * 1024
_HEADERS = {"User-Agent": f"Waylink/{VERSION} (webhooks)", "Content-Type": "application/json"}


class Receivers:
    """Connections to receivers. With `allows_loopback`, also to those on this machine."""

    def __init__(self, *, allows_loopback: bool, resolve: Resolve = resolve) -> None:
        self.allows_loopback = allows_loopback
        network = GuardedNetwork(allows_loopback=allows_loopback, resolve=resolve)
        self.client = GuardedClient(network, seconds=SECONDS, most_bytes=MOST_BYTES)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> GuardedAnswer:
        """Send this JSON. Raises Unreadable if no answer came in SECONDS, or the address is not public."""
        return await self.client.send("POST", url, {**_HEADERS, **headers}, body)

    async def close(self) -> None:
        """End all connections."""
        await self.client.close()
