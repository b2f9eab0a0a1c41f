"""QR codes as images."""

from __future__ import annotations

import asyncio

from backend.web.qr_image import qr_image


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
