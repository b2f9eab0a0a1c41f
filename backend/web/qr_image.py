"""QR codes of short URLs as images."""

from __future__ import annotations

import io

import segno

from backend.concurrency.bounded_cache import BoundedCache
from backend.concurrency.side_thread import beside_the_loop

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
# As SVG, the code of a path of 512 characters has some 60 KB; most have 5 KB.
_images: BoundedCache[str, bytes] = BoundedCache(8_000_000, longest_key=2048, size_of=len)


async def qr_image(short_url: str, kind: str) -> bytes:
    """The QR code as an image file, black on white. `kind` is a key of MEDIA_TYPES."""
    key = f"{kind} {short_url}"
    image: bytes | None = _images.get(key)
    if image is None:
        image = await beside_the_loop(lambda: _draw(short_url, kind))
        _images.keep(key, image)
    return image


def _draw(short_url: str, kind: str) -> bytes:
    image = io.BytesIO()
    segno.make_qr(short_url).save(image, kind=kind, scale=8, border=4, light="white")
    return image.getvalue()
