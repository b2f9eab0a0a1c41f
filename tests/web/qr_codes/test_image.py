"""QR codes as images."""

from __future__ import annotations

import asyncio

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.ids import OrgId
from backend.domain.links.qr_style import Label, QrStyle, SheetLayout
from backend.web.qr_codes import image as images
from backend.web.qr_codes.files import qr_sheet
from backend.web.qr_codes.image import qr_image


async def turns_while_drawing(short_url: str) -> int:
    """How often the event loop turns until there is an image."""
    drawing, turns = asyncio.create_task(qr_image(short_url, "svg")), 0
    while not drawing.done():
        await asyncio.sleep(0)
        turns += 1
    assert drawing.result().startswith(b"<?xml")
    return turns


async def test_the_loop_turns_while_a_code_is_drawn() -> None:
    """A code of a long path takes long, and holds nobody up; the second time it is there at once."""
    short_url = f"https://go.shop.example/{'x' * 500}"
    assert await turns_while_drawing(short_url) > 2
    assert await turns_while_drawing(short_url) <= 2


async def test_images_that_are_kept_have_a_bound() -> None:
    """Each counts with its bytes, so that no number of codes takes more than the room for all."""
    before = images._images.currsize
    image = await qr_image("https://go.shop.example/bound", "png")
    assert len(image) < images._images.currsize - before < len(image) + 2_000
    assert images._images.maxsize == 8_000_000


async def test_a_sheet_that_nobody_waits_for_is_drawn_no_further() -> None:
    """Whoever hangs up has no more labels drawn, and room for other requests again."""
    org_id, labels = OrgId("hung-up"), [Label("A", "https://go.shop.example/a")] * 50
    sheet = asyncio.create_task(qr_sheet(org_id, labels, SheetLayout.A4_24, QrStyle()))
    await LONG_WORK.run("another", int)
    assert org_id in LONG_WORK._admitted
    sheet.cancel()
    await asyncio.wait([sheet])
    assert (sheet.cancelled(), org_id in LONG_WORK._admitted) == (True, False)
