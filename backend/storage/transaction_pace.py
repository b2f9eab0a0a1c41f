"""How many links' counts one transaction changes, by how long the last ones took."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from backend.storage.mongo import ClientSession, Database, in_transaction

# A transaction has seconds: the server of our own ends one after five. A link with many clicks at many times
# has hundreds of documents of minutes. After a transaction that took so long, the next one has half as many
# links.
_LONG = 2.0
_FEWEST = 50


class Pace:
    """Runs transactions that add to the counts of links. `links` says how many the next one may change."""

    def __init__(self, most_links: int) -> None:
        self._most = self.links = most_links

    async def run(
        self, database: Database, work: Callable[[ClientSession], Coroutine[Any, Any, None]]
    ) -> None:
        """Run `work` in a transaction. How long it takes says how many links come next."""
        began = time.monotonic()
        try:
            await in_transaction(database, work)
        finally:  # also where it failed: the server gives up on one that takes too long with various errors
            is_long = time.monotonic() - began > _LONG
            more = self.links // 2 if is_long else self.links + _FEWEST
            self.links = min(self._most, max(_FEWEST, more))
