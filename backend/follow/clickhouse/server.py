"""Statements for a ClickHouse server, over its HTTP interface."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

import httpx

from backend.domain.errors import OperatorError
from backend.follow.target import TargetAway

_TIMEOUT_SECONDS = 60.0
# Each statement is done when its answer comes, on all that have the data.
_SETTINGS = {
    "wait_end_of_query": "1",
    "async_insert": "0",
    "mutations_sync": "2",
    "lightweight_deletes_sync": "2",
    "date_time_input_format": "best_effort",
    # The database may have columns that this version does not write; it never writes one that is not there.
    "input_format_skip_unknown_fields": "0",
    # The table itself keeps one row of a key. A replicated table would drop a block equal to a former one.
    "insert_deduplicate": "0",
    # A page of events may span more than a hundred months, each a part of the table.
    "max_partitions_per_insert_block": "0",
}
# The server's answers, besides those from 500 on, after which the same statement may be taken later: what it
# gives for too much memory, too many parts or a keeper that is away. And one that it always gives.
_BUSY = frozenset({httpx.codes.TOO_MANY_REQUESTS})
_NEVER = frozenset({httpx.codes.NOT_IMPLEMENTED})
_TEXTS_OF_ARRAYS = str.maketrans({"\\": "\\\\", "'": "\\'"})


class ClickHouseServer:
    """Sends statements to the server at `address`, `https://user@host:8443/database`.

    The password is that of the address or of CLICKHOUSE_PASSWORD.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise OperatorError("--to must be ClickHouse's address, as https://user@host:8443/database.")
        self._url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        self._database = unquote(parts.path.strip("/")) or "default"
        password = unquote(parts.password or "") or os.environ.get("CLICKHOUSE_PASSWORD", "")
        self._headers = {
            "X-ClickHouse-User": unquote(parts.username or "default"),
            "X-ClickHouse-Key": password,
        }
        self._client: httpx.AsyncClient | None = None
        self._was_open = False

    async def open(self) -> None:
        """Connect."""
        self._client = httpx.AsyncClient(timeout=_TIMEOUT_SECONDS, headers=self._headers)

    async def close(self) -> None:
        """Leave the server."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def run(
        self,
        statement: str,
        parameters: Mapping[str, str | Sequence[str] | None] | None = None,
        rows: str = "",
    ) -> str:
        """Run a statement with its parameters, and return the server's answer.

        `rows` are the lines to insert, in the format that the statement names. Raises TargetAway, and
        OperatorError if the server was never reached or refuses the statement.
        """
        assert self._client is not None
        query_parameters = {
            f"param_{name}": _parameter_text(value) for name, value in (parameters or {}).items()
        }
        query = _SETTINGS | {"database": self._database, "query": statement} | query_parameters
        # Long statements, and parameters such as the ids of a person, are more than an address can hold.
        files = {name: (None, value) for name, value in query.items() if name not in _SETTINGS}
        try:
            if rows:
                answer = await self._client.post(self._url, params=query, content=rows.encode())
            else:
                answer = await self._client.post(self._url, params=_SETTINGS, files=files)
        except httpx.HTTPError as error:
            raise self._away(str(error) or type(error).__name__) from None
        if answer.status_code in _BUSY or (answer.is_server_error and answer.status_code not in _NEVER):
            raise self._away(f"it answered {answer.status_code}. {_first_line(answer.text)}".strip())
        if answer.is_error:
            raise OperatorError(f"ClickHouse refuses it: {_first_line(answer.text)}")
        self._was_open = True
        return answer.text

    def _away(self, why: str) -> OperatorError:
        if self._was_open:
            return TargetAway(f"ClickHouse can't be used now: {why}")
        return OperatorError(f"ClickHouse can't be used; check --to. {why}")


def _parameter_text(value: str | Sequence[str] | None) -> str:
    """A parameter as the interface reads it."""
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value
    return "[" + ",".join(f"'{text.translate(_TEXTS_OF_ARRAYS)}'" for text in value) + "]"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:500]
