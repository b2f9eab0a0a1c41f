"""The thread that writes click logs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from backend.redirector.click_log.files import ClickLog, create_log
from backend.redirector.click_log.writer import LogWriter, WriteResult


async def test_whatever_fails_the_thread_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails otherwise than the disk does is refused, so that its click is stored elsewhere; what
    comes later is written, and nobody waits for ever."""
    late: list[Sequence[bytes]] = []
    writer = LogWriter(create_log(tmp_path), late.append)

    def append(*_: object) -> int:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(ClickLog, "append", append)
        assert await asyncio.wait_for(writer.write(b"one\n"), 10.0) is WriteResult.REFUSED
    assert await asyncio.wait_for(writer.write(b"two\n"), 10.0) is WriteResult.ON_DISK
    assert await asyncio.wait_for(writer.run(lambda: writer.log.read(0, 100)), 10.0) == b"two\n"
    assert not late
    writer.end()
