"""QR codes of links: the short URL with the suffix `.qr.svg` or `.qr.png`."""

from __future__ import annotations

from backend.redirector.answers.answer import Answer, file
from backend.web.qr_codes.image import MEDIA_TYPES, qr_image

_HOUR = 3600


def split_suffix(path: str) -> tuple[str, str] | None:
    """The link's path and the image format in a path with a QR suffix; None if it has no such suffix."""
    base, _, kind = path.rpartition(".qr.")
    return (base, kind) if base and kind in MEDIA_TYPES else None


async def qr_code(short_url: str, kind: str) -> Answer:
    """The QR code as an image (`kind` is svg or png). It may be cached: a link's short URL never changes."""
    return file(MEDIA_TYPES[kind].encode(), await qr_image(short_url, kind), _HOUR)
