"""QR codes of links: the short URL with the suffix `.qr.svg` or `.qr.png`."""

from __future__ import annotations

import io
from functools import lru_cache

import segno

from backend.redirector.answer import Answer, file

_MEDIA_TYPES = {"svg": b"image/svg+xml", "png": b"image/png"}
_HOUR = 3600


def split_suffix(path: str) -> tuple[str, str] | None:
    """The link's path and the format that a path with a QR suffix names, or None."""
    base, _, kind = path.rpartition(".qr.")
    return (base, kind) if base and kind in _MEDIA_TYPES else None


def qr_code(short_url: str, kind: str) -> Answer:
    """The code as an image; a link's short URL never changes, so the image may be stored."""
    return file(_MEDIA_TYPES[kind], _image(short_url, kind), _HOUR)


@lru_cache(maxsize=256)
def _image(short_url: str, kind: str) -> bytes:
    image = io.BytesIO()
    segno.make_qr(short_url).save(image, kind=kind, scale=8, border=4)
    return image.getvalue()
