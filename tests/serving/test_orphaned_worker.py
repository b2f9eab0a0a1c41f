"""A worker whose supervisor has ended."""

from __future__ import annotations

import asyncio
import multiprocessing

from backend.serving.worker import stop_without_supervisor


async def test_a_worker_is_told_once_that_its_supervisor_is_gone() -> None:
    """It stops, and its event loop is free for the last requests: the pipe stays readable for ever."""
    supervisors, workers = multiprocessing.Pipe()
    stop = asyncio.Event()
    stop_without_supervisor(workers, stop)
    supervisors.close()
    await asyncio.wait_for(stop.wait(), 10)
    still_watched = asyncio.get_running_loop().remove_reader(workers.fileno())
    workers.close()
    assert not still_watched
