"""QR codes of short URLs, as images."""

from __future__ import annotations

import io
from functools import lru_cache

import segno

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


@lru_cache(maxsize=256)
def qr_image(short_url: str, kind: str) -> bytes:
    """The image, black on white; `kind` is one of MEDIA_TYPES."""
    image = io.BytesIO()
    segno.make_qr(short_url).save(image, kind=kind, scale=8, border=4, light="white")
    return image.getvalue()
