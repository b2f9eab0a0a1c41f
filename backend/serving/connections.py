"""The open connections of a process: bounded, and the idle ones are the first to go."""

from __future__ import annotations

from typing import Protocol

from prometheus_client import Counter, Gauge

_OPEN = Gauge("waylink_connections", "Open connections of clients.", multiprocess_mode="livesum")
_ENDED = Counter("waylink_connections_ended", "Connections ended because there were too many.", ["state"])
# Looking for connections that wait for their client takes a while: as many are ended at once.
_AT_ONCE = 50


class Connection(Protocol):
    """What is asked of an open connection."""

    @property
    def waits_for_client(self) -> bool:
        """Whether the rest of a request has not come, or an answer is not taken."""

    def abort(self) -> None:
        """End it at once."""


class Connections:
    """Fewer than `most` connections; beyond that a new one takes the place of one that nothing happens on."""

    def __init__(self, most: int) -> None:
        self._most = most
        # Both in the order in which they became so.
        self._idle: dict[Connection, None] = {}
        self._busy: dict[Connection, None] = {}

    def admit(self, connection: Connection) -> bool:
        """Let a new connection in, idle until it asks something; False where all others are at work."""
        if len(self._idle) + len(self._busy) >= self._most and not self._make_room():
            _ENDED.labels("new").inc()
            return False
        self.idle(connection)
        self._tell()
        return True

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        self._idle.pop(connection, None)
        self._busy.pop(connection, None)
        self._tell()

    def idle(self, connection: Connection) -> None:
        """A connection has no request under way."""
        self._busy.pop(connection, None)
        self._idle[connection] = None

    def busy(self, connection: Connection) -> None:
        """A connection has a request under way."""
        self._idle.pop(connection, None)
        self._busy[connection] = None

    def _make_room(self) -> bool:
        if self._idle:
            self._end(next(iter(self._idle)), "idle")
            return True
        waiting = [each for each in self._busy if each.waits_for_client]
        for each in waiting[:_AT_ONCE]:
            self._end(each, "waiting for the client")
        return bool(waiting)

    def _end(self, connection: Connection, state: str) -> None:
        _ENDED.labels(state).inc()
        self.leave(connection)
        connection.abort()

    def _tell(self) -> None:
        _OPEN.set(len(self._idle) + len(self._busy))
