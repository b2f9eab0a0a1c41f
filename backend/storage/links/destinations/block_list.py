"""The operator's block list: a file of addresses that no link may lead to, read again when it changes."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from backend.concurrency.background_task import BackgroundTask
from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.address_patterns import AddressPattern, AddressPatterns
from backend.domain.web.host_names import LONGEST_NAME

_CHECK_SECONDS = 1.0
# The addresses before a name in files of the form of /etc/hosts.
_NULL_ADDRESSES = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104 - nothing listens there
_LOGGED_LINES = 5
_RULE = AddressPattern()
# Most lines of long lists: one host, maybe behind one of _NULL_ADDRESSES. This reads them several times as
# fast. A host whose last part begins with a letter is not an IP address.
_PLAIN_LINE = re.compile(
    r"^(?:(?:0\.0\.0\.0|127\.0\.0\.1|::1?)[ \t]+)?"
    r"((?:[a-z0-9][a-z0-9-]{0,62}(?<!-)\.)*[a-z][a-z0-9-]{0,62}(?<!-))[ \t]*$",
    re.MULTILINE,
)
_LINES_PER_BATCH = 50
_logger = logging.getLogger("waylink.block_list")
# The state of a file: its time of change in nanoseconds, its size, and its inode.
_State = tuple[int, int, int]


def read_block_list(path: Path | None) -> AddressPatterns:
    """The patterns in a file; none without a file.

    A line has a pattern of addresses (domain/fields/addresses/address_patterns), or is of the form of
    /etc/hosts. The text behind a # is a comment. Lines that can't be read are logged and left out. Raises
    OSError.
    """
    if path is None:
        return AddressPatterns()
    hosts: set[str] = set()
    others: list[str] = []
    refused: list[int] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        _read(lines, hosts, others, refused)
    if refused:
        numbers = ", ".join(map(str, refused[:_LOGGED_LINES])) + (
            ", …" if len(refused) > _LOGGED_LINES else ""
        )
        _logger.warning("%d lines of the block list %s are no addresses: %s", len(refused), path, numbers)
    return AddressPatterns.of(others, hosts)


def _read(lines: Iterable[str], hosts: set[str], others: list[str], refused: list[int]) -> None:
    """Add plain hosts, other patterns, and the numbers of lines that can't be read."""
    before, rest = 0, iter(lines)
    while batch := list(islice(rest, _LINES_PER_BATCH)):
        if plain := _plain_hosts(batch):
            hosts.update(plain)
        else:
            for number, line in enumerate(batch, before + 1):
                others += _patterns_in(line, number, refused)
        before += len(batch)


def _plain_hosts(lines: Sequence[str]) -> list[str]:
    """The hosts in these lines; none unless each line has one, in the form that AddressPattern stores."""
    hosts = _PLAIN_LINE.findall("".join(lines))
    return hosts if len(hosts) == len(lines) and max(map(len, lines)) <= LONGEST_NAME else []


def _patterns_in(line: str, number: int, refused: list[int]) -> Iterator[str]:
    words = line.partition("#")[0].split()
    for word in words[1:] if words and words[0] in _NULL_ADDRESSES and len(words) > 1 else words:
        try:
            yield _RULE.parse("address", word)
        except InvalidField:
            refused.append(number)


class BlockList:
    """The file as it is now. `current` is another object whenever it was read anew."""

    def __init__(self, path: Path | None) -> None:
        self.current = AddressPatterns()
        self._path = path
        self._read: _State | None = None
        self._checking = BackgroundTask("reading the block list", self._check_repeatedly)

    async def start(self) -> None:
        """Read the file, and check every second whether it has changed. Raises OSError."""
        if self._path:
            await self._check(self._path)
            await self._checking.start()

    async def stop(self) -> None:
        """Stop checking the file."""
        await self._checking.stop()

    @property
    def failures(self) -> list[str]:
        """Why the file can't be read now; what was read before still holds."""
        return self._checking.failures

    async def _check_repeatedly(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            if self._path:
                await self._check(self._path)

    async def _check(self, path: Path) -> None:
        status = await asyncio.to_thread(path.stat)
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if state != self._read:
            self.current = await asyncio.to_thread(read_block_list, path)
            self._read = state
