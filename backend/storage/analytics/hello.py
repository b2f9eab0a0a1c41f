"""What the two ends of a connection say first: a line of JSON, from which version of Waylink each is.

The messages that follow are pickles, which only the same source reads as they were meant. So no end reads one
before it knows that the other has its source.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from backend.version import VERSION

_BACKEND = Path(__file__).parents[2]
# Questions, answers and errors are made of classes of these folders, and files of columns by this source.
_EXCHANGED = ("domain", "storage")


class AnotherVersion(Exception):
    """The other end has another source, so that nothing can be asked. `hello` is what it said."""

    def __init__(self, hello: Hello) -> None:
        super().__init__(f"Waylink {hello.version}, process {hello.pid}")
        self.hello = hello


@dataclass(frozen=True, slots=True)
class Hello:
    """What an end says of itself: a digest of its source, the version of Waylink, and its process."""

    source: str
    version: str
    pid: int

    @classmethod
    def own(cls) -> Hello:
        """What this process says."""
        return cls(source_digest(), VERSION, os.getpid())


@functools.cache
def source_digest() -> str:
    """A digest of the source that this process runs.

    It reads the files, so it is to be called soon after the start: they may be replaced later.
    """
    digest = hashlib.sha256(VERSION.encode())
    for path in sorted(path for folder in _EXCHANGED for path in (_BACKEND / folder).rglob("*.py")):
        digest.update(f"\0{path.relative_to(_BACKEND)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


async def exchange_hellos(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Hello:
    """Say hello, and return what the other end said.

    Raises AnotherVersion, and ConnectionError where the other end has gone.
    """
    writer.write(json.dumps(asdict(Hello.own())).encode() + b"\n")
    await writer.drain()
    line = await reader.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError
    hello = _read(line)
    if hello.source != source_digest():
        raise AnotherVersion(hello)
    return hello


def _read(line: bytes) -> Hello:
    try:
        told = json.loads(line)
        return Hello(str(told["source"]), str(told["version"]), int(told["pid"]))
    except (ValueError, TypeError, KeyError):
        return Hello("", "of a version that says no hello", 0)
