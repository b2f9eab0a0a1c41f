"""What nobody counted is not stored without end."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import httpx

from backend.app import create_app
from backend.settings import Settings
from tests.redirector.conftest import LinkFactory, Recorded


async def test_an_address_leaves_so_many_records_that_do_not_count(
    settings: Settings, tmp_path: Path, make_link: LinkFactory, recorded: Recorded
) -> None:
    """Beyond the limit it is answered all the same, and not recorded; its clicks that count go on, and so do
    other addresses."""
    link = await make_link()
    service = create_app(dataclasses.replace(settings, data_dir=tmp_path, uncounted_visit_limit=3))
    await service.startup()
    for address, heads in (("203.0.113.5", 6), ("203.0.113.6", 2)):
        transport = httpx.ASGITransport(app=service, client=(address, 4711))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{link.domain}") as visitor:
            assert {(await visitor.head(f"/{link.path}")).status_code for _ in range(heads)} == {302}
            assert (await visitor.get(f"/{link.path}")).status_code == 302
    await service.shutdown()
    records = await recorded(link, 7)
    assert Counter(record["counted"] for record in records) == {False: 3 + 2, True: 2}
