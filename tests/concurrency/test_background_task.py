"""Background work begins again, whatever ended it."""

from __future__ import annotations

import asyncio

import pytest

from backend.concurrency import background_task
from backend.concurrency.background_task import BackgroundTask
from tests.polling import wait_for_async


@pytest.mark.parametrize("fault", [RecursionError("deep"), None], ids=["it fails", "it ends"])
async def test_work_begins_again(monkeypatch: pytest.MonkeyPatch, fault: Exception | None) -> None:
    """Work that failed, or ended by itself, begins again; that is told until it has gone on for a while."""
    monkeypatch.setattr(background_task, "_PROVEN_AFTER", 0.3)
    begun = 0

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun > 2:
            await asyncio.Event().wait()
        if fault:
            raise fault

    task = BackgroundTask("digging", work)

    async def failures() -> list[str]:
        return task.failures

    await task.start()
    kind = type(fault).__name__ if fault else "RuntimeError"
    await wait_for_async(failures, "nobody is told", lambda seen: seen == [f"digging: {kind}"])
    await wait_for_async(failures, "it is not well again", lambda seen: seen == [])
    assert begun == 3
    await task.stop()
