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
from backend.domain.fields.address_patterns import AddressPattern, AddressPatterns
from backend.domain.web.host_names import LONGEST_NAME

_LOOK_EVERY = 1.0  # seconds
# What files of the form of /etc/hosts have before a name.
_NO_WHERE = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104 - nothing listens there
_TOLD = 5
_RULE = AddressPattern()
# Most lines of long lists, which are read several times as fast so: one host, maybe behind one of _NO_WHERE.
# What begins with a letter behind its last dot is no address in numbers.
_PLAIN_LINE = re.compile(
    r"^(?:(?:0\.0\.0\.0|127\.0\.0\.1|::1?)[ \t]+)?"
    r"((?:[a-z0-9][a-z0-9-]{0,62}+(?<!-)\.)*+[a-z][a-z0-9-]{0,62}+(?<!-))[ \t]*$",
    re.MULTILINE,
)
_AT_ONCE = 50  # lines
_logger = logging.getLogger("waylink.block_list")
# What tells one state of a file from another: when it was changed, its size and its place on disk.
_State = tuple[int, int, int]


def read_block_list(path: Path | None) -> AddressPatterns:
    """The patterns in a file; none without a file.

    A line has a pattern of addresses (domain/fields/address_patterns), or is of the form of /etc/hosts. What
    stands behind a # is a comment. Lines that can't be read are logged and left out. Raises OSError.
    """
    if path is None:
        return AddressPatterns()
    hosts: set[str] = set()
    others: list[str] = []
    refused: list[int] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        _read(lines, hosts, others, refused)
    if refused:
        numbers = ", ".join(map(str, refused[:_TOLD])) + (", …" if len(refused) > _TOLD else "")
        _logger.warning("%d lines of the block list %s are no addresses: %s", len(refused), path, numbers)
    return AddressPatterns.of(others, hosts)


def _read(lines: Iterable[str], hosts: set[str], others: list[str], refused: list[int]) -> None:
    """Add plain hosts, other patterns, and the numbers of lines that can't be read."""
    before, rest = 0, iter(lines)
    while batch := list(islice(rest, _AT_ONCE)):
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
    for word in words[1:] if words and words[0] in _NO_WHERE and len(words) > 1 else words:
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
        self._looking = BackgroundTask("reading the block list", self._go_on_looking)

    async def start(self) -> None:
        """Read the file, and look every second whether it has changed. Raises OSError."""
        if self._path:
            await self._look(self._path)
            await self._looking.start()

    async def stop(self) -> None:
        """Stop looking."""
        await self._looking.stop()

    @property
    def failures(self) -> list[str]:
        """Why the file can't be read now; what was read before still holds."""
        return self._looking.failures

    async def _go_on_looking(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if self._path:
                await self._look(self._path)

    async def _look(self, path: Path) -> None:
        found = await asyncio.to_thread(path.stat)
        state = (found.st_mtime_ns, found.st_size, found.st_ino)
        if state != self._read:
            self.current = await asyncio.to_thread(read_block_list, path)
            self._read = state
