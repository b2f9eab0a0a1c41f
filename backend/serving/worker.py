"""One worker process of the service."""

from __future__ import annotations

import asyncio
import os
import sys
from multiprocessing.connection import Connection

from backend.app import create_app
from backend.operations.logs import configure_logs
from backend.serving.job import Job
from backend.serving.listener import NotStarted
from backend.serving.server import ServedApp, run, serve_sites
from backend.serving.watchdog import watch_loop


def run_job(job: Job, news: Connection) -> None:
    """Serve the application until the supervisor stops this process; report on `news` when it answers."""
    configure_logs(job.settings.log_level)
    try:
        run(_serve(job, news))
    except NotStarted as error:
        news.send(str(error))
        sys.exit(1)


async def _serve(job: Job, news: Connection) -> None:
    stop = asyncio.Event()
    # The supervisor sends nothing: the pipe becomes readable when it is gone, and then nobody else stops us.
    asyncio.get_running_loop().add_reader(news.fileno(), stop.set)
    watching = asyncio.create_task(watch_loop(job.settings.stall_seconds, job.stack_of(os.getpid())))
    site = ServedApp((job.make_app or create_app)(job.settings), job.listener)
    try:
        await serve_sites([site], job.settings, lambda: news.send(""), stop)
    finally:
        watching.cancel()
