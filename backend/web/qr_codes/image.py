"""QR codes of short URLs as images."""

from __future__ import annotations

import io

import segno
from cachetools import LRUCache

from backend.concurrency.side_threads import SHORT_WORK
from backend.domain.web.short_urls import host_of

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
# As SVG, the code of a path of 512 characters has some 60 KB; most have 5 KB.
_CACHE_BYTES, _KEY_BYTES = 8_000_000, 1_000
_images: LRUCache[str, bytes] = LRUCache(_CACHE_BYTES, getsizeof=lambda image: len(image) + _KEY_BYTES)


async def qr_image(short_url: str, kind: str) -> bytes:
    """The QR code as an image file, black on white. `kind` is a key of MEDIA_TYPES."""
    key = f"{kind} {short_url}"
    image = _images.get(key)
    if image is None:
        image = await SHORT_WORK.run(host_of(short_url), lambda: _draw(short_url, kind))
        _images[key] = image
    return image


def _draw(short_url: str, kind: str) -> bytes:
    image = io.BytesIO()
    segno.make_qr(short_url).save(image, kind=kind, scale=8, border=4, light="white")
    return image.getvalue()
