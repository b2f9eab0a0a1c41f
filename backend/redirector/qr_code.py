"""QR codes of links: the short URL with the suffix `.qr.svg` or `.qr.png`."""

from __future__ import annotations

from backend.qr_image import MEDIA_TYPES, qr_image
from backend.redirector.answer import Answer, file

_HOUR = 3600


def split_suffix(path: str) -> tuple[str, str] | None:
    """The link's path and the format that a path with a QR suffix names, or None."""
    base, _, kind = path.rpartition(".qr.")
    return (base, kind) if base and kind in MEDIA_TYPES else None


async def qr_code(short_url: str, kind: str) -> Answer:
    """The code as an image; a link's short URL never changes, so the image may be stored."""
    return file(MEDIA_TYPES[kind].encode(), await qr_image(short_url, kind), _HOUR)
