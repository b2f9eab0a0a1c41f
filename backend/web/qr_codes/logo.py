"""Logos of QR codes: what is sent, as a small and plain image."""

from __future__ import annotations

import io

from PIL import Image, UnidentifiedImageError

from backend.domain.errors import InvalidField

MOST_LOGO_BYTES = 256 * 1024
LOGO_PIXELS = 400  # the longer side of what is kept
_MOST_PIXELS = 4096  # a side of what is sent; the decoded image needs 64 MB at most
_FORMS = ("PNG", "JPEG", "WEBP")


def read_logo(field: str, data: bytes) -> bytes:
    """The image as a PNG file with at most LOGO_PIXELS a side, and nothing else that was in the file.

    Raises InvalidField unless it is a PNG, JPEG or WebP image. Decoding takes a while for large ones.
    """
    if len(data) > MOST_LOGO_BYTES:
        raise InvalidField(field, f"must have at most {MOST_LOGO_BYTES // 1024} KiB")
    try:
        image = Image.open(io.BytesIO(data), formats=_FORMS)
        if max(image.size) <= _MOST_PIXELS:
            return _small(image)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise InvalidField(field, "must be a PNG, JPEG or WebP image") from None
    raise InvalidField(field, f"must have at most {_MOST_PIXELS} pixels a side")


def _small(image: Image.Image) -> bytes:
    image.thumbnail((LOGO_PIXELS, LOGO_PIXELS))
    file = io.BytesIO()
    image.convert("RGBA").save(file, "PNG", optimize=True)
    return file.getvalue()
