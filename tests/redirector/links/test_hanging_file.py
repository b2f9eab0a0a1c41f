"""A disk that hangs as the service stops."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import httpx

from backend.app import create_app
from backend.redirector.links.file import LinkFile, path_in
from backend.settings import Settings
from tests.polling import until
from tests.redirector.conftest import DESKTOP, LinkFactory, Recorded


def is_being_written() -> bool:
    """Whether a thread is at writing the file of links."""
    threads = map(traceback.extract_stack, sys._current_frames().values())
    return any(frame.name == LinkFile.write.__name__ for stack in threads for frame in stack)


async def test_clicks_are_shipped_though_the_file_of_links_hangs(
    settings: Settings, tmp_path: Path, make_link: LinkFactory, recorded: Recorded
) -> None:
    """Writing the file of links does not end: the service stops soon, and its last click is counted."""
    link = await make_link()
    path = path_in(tmp_path)
    hanging = path.with_name(f"{path.name}.{os.getpid()}")
    os.mkfifo(hanging)  # opening it hangs until somebody reads
    service = create_app(replace(settings, data_dir=tmp_path))
    await service.startup()
    try:
        await until(is_being_written, "nobody writes the file")
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{link.domain}") as visitor:
            answer = await visitor.get(f"/{link.path}", headers={"user-agent": DESKTOP})
            assert answer.status_code == 302
        await asyncio.wait_for(service.shutdown(), 10)
        assert list((tmp_path / "clicks").glob("*.log")) == []
    finally:
        reader = os.open(hanging, os.O_RDONLY | os.O_NONBLOCK)
        await until(lambda: not is_being_written(), "the file is not given up")
        os.close(reader)
    await recorded(link, 1)
