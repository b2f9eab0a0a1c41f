"""A database that reads within a session, for functions that read without one."""

from __future__ import annotations

from typing import Any, cast

from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.driver.unrecorded import RecordedDatabase, unrecorded

_READS = frozenset({"find", "find_one", "count_documents", "aggregate", "distinct"})


class _InSession(RecordedDatabase):
    """A database, of which all that is read is read in this session, unless another is given."""

    def __init__(self, stored: Database, session: ClientSession) -> None:
        super().__init__(stored)
        self._session = session

    def __getitem__(self, name: str) -> Any:
        return _CollectionInSession(self.stored[name], self._session)


class _CollectionInSession:
    def __init__(self, stored: Any, session: ClientSession) -> None:
        self._stored = stored
        self._session = session

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._stored, name)
        if name not in _READS:
            return method

        def read(*arguments: Any, **options: Any) -> Any:
            if options.get("session") is None:
                options["session"] = self._session
            return method(*arguments, **options)

        return read


def read_in(session: ClientSession, database: Database) -> Database:
    """The database as this session's transaction sees it. It is for reading alone."""
    return cast(Database, _InSession(unrecorded(database), session))
