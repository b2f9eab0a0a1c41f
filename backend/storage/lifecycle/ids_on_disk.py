"""Sets of ids that may be larger than memory, such as those of all links of an archive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

# Of the pages of each set that SQLite keeps in memory.
_KIBIBYTES = 8_192


class IdsOnDisk:
    """A set of texts in a temporary file that has no name, and is gone with the set."""

    def __init__(self) -> None:
        # An empty name: a database of its own, in a temporary file once it outgrows its pages in memory.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in (
            f"PRAGMA cache_size = -{_KIBIBYTES}",
            "PRAGMA journal_mode = OFF",
            "CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID",
            "BEGIN",  # or each id would be written by itself
        ):
            self._database.execute(statement)

    def update(self, ids: Iterable[str]) -> None:
        """Add these ids."""
        self._database.executemany("INSERT OR IGNORE INTO ids VALUES (?)", ((one,) for one in ids))

    def __contains__(self, one: object) -> bool:
        """Whether the set has this id."""
        if not isinstance(one, str):
            return False
        return self._database.execute("SELECT 1 FROM ids WHERE id = ?", (one,)).fetchone() is not None
