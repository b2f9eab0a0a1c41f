"""One worker process of the service."""

from __future__ import annotations

import asyncio
import os
import sys
from multiprocessing.connection import Connection

from backend.app import create_app
from backend.operations.logs import configure_logs
from backend.serving.heartbeat import WorkerNews, beat, leave_stack_at_end, tell
from backend.serving.job import Job
from backend.serving.listener import NotStarted
from backend.serving.server import ServedApp, run, serve_sites


def run_job(job: Job, news: Connection) -> None:
    """Serve the application until the supervisor stops this process; tell it on `news` how that goes."""
    configure_logs(job.settings.log_level)
    leave_stack_at_end(job.stack_of(os.getpid()))
    try:
        run(_serve(job, news))
    except NotStarted as error:
        tell(news, str(error))
        sys.exit(1)


async def _serve(job: Job, news: Connection) -> None:
    stop = asyncio.Event()
    stop_without_supervisor(news, stop)
    beating = asyncio.create_task(beat(news, job.settings.stall_seconds))
    site = ServedApp((job.make_app or create_app)(job.settings), job.listener)
    try:
        await serve_sites([site], job.settings, lambda: tell(news, WorkerNews.READY), stop)
    finally:
        beating.cancel()


def stop_without_supervisor(news: Connection, stop: asyncio.Event) -> None:
    """Set `stop` when the supervisor is gone, since nobody else would stop this worker."""
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.remove_reader(news.fileno())  # readable from now on: it would be told in every turn of the loop
        stop.set()

    # The supervisor sends nothing: the pipe becomes readable when it has ended.
    loop.add_reader(news.fileno(), gone)
