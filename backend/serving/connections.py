"""Limits the open connections of a process. If there are too many, idle ones are closed first."""

from __future__ import annotations

from typing import Protocol

from prometheus_client import Counter, Gauge

_OPEN = Gauge("waylink_connections", "Open connections of clients.", multiprocess_mode="livesum")
_ENDED = Counter("waylink_connections_ended", "Connections ended because there were too many.", ["state"])
# The search for connections that wait for their client is slow, so each search closes this many.
_ENDED_BY_SEARCH = 50


class Connection(Protocol):
    """What `Connections` needs to know of an open connection."""

    @property
    def waits_for_client(self) -> bool:
        """Whether the client has not sent the rest of its request, or does not read its answer."""

    def abort(self) -> None:
        """Close the connection at once."""


class Connections:
    """At most `most` connections. A further one replaces an idle one, or one that waits for its client."""

    def __init__(self, most: int) -> None:
        self._most = most
        # Both in the order in which they became idle or busy.
        self._idle: dict[Connection, None] = {}
        self._busy: dict[Connection, None] = {}

    def admit(self, connection: Connection) -> bool:
        """Add a new connection, which is idle at first.

        Returns False if all others are busy: then refuse it.
        """
        if len(self._idle) + len(self._busy) >= self._most and not self._make_room():
            _ENDED.labels("new").inc()
            return False
        self.idle(connection)
        self._tell()
        return True

    def leave(self, connection: Connection) -> None:
        """Note that a connection was closed."""
        self._idle.pop(connection, None)
        self._busy.pop(connection, None)
        self._tell()

    def idle(self, connection: Connection) -> None:
        """Note that a connection has no request in progress."""
        self._busy.pop(connection, None)
        self._idle[connection] = None

    def busy(self, connection: Connection) -> None:
        """Note that a connection has a request in progress."""
        self._idle.pop(connection, None)
        self._busy[connection] = None

    def _make_room(self) -> bool:
        if self._idle:
            self._end(next(iter(self._idle)), "idle")
            return True
        waiting = [connection for connection in self._busy if connection.waits_for_client]
        for connection in waiting[:_ENDED_BY_SEARCH]:
            self._end(connection, "waiting for the client")
        return bool(waiting)

    def _end(self, connection: Connection, state: str) -> None:
        _ENDED.labels(state).inc()
        self.leave(connection)
        connection.abort()

    def _tell(self) -> None:
        _OPEN.set(len(self._idle) + len(self._busy))
