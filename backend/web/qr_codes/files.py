"""QR codes and sheets of them as files, in any style, drawn beside the event loop.

What draws them is imported when it is needed: most processes only redirect.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.links.qr_style import Label, QrFormat, QrStyle, SheetLayout
from backend.web.qr_codes.image import qr_image

MEDIA_TYPES = {
    QrFormat.SVG: "image/svg+xml",
    QrFormat.PNG: "image/png",
    QrFormat.PDF: "application/pdf",
}
_PLAIN = QrStyle()


async def qr_file(short_url: str, form: QrFormat, style: QrStyle, logo: bytes | None = None) -> bytes:
    """The code of this short URL as a file. `logo` is an image as `kept_logo` gives it.

    A plain code as SVG or PNG is the one that short URLs with `.qr.svg` and `.qr.png` answer. Raises
    InvalidField if the style's text can't be drawn.
    """
    if style == _PLAIN and logo is None and form is not QrFormat.PDF:
        return await qr_image(short_url, form.value)
    return await beside_the_loop(lambda: drawn_code(short_url, form, style, logo))


def drawn_code(short_url: str, form: QrFormat, style: QrStyle, logo: bytes | None) -> bytes:
    """The code as a drawing in this format. Raises InvalidField if the style's text can't be drawn."""
    from backend.web.qr_codes import drawing  # noqa: PLC0415 - few processes draw

    drawing.refuse_unknown_letters(style.text)
    drawn = drawing.draw(short_url, style, logo)
    writers = {
        QrFormat.SVG: drawing.as_svg,
        QrFormat.PNG: drawing.as_png,
        QrFormat.PDF: drawing.as_pdf,
    }
    return writers[form](drawn)


async def qr_sheet(
    labels: Sequence[Label], layout: SheetLayout, style: QrStyle, logo: bytes | None = None
) -> bytes:
    """A PDF file with these labels. Raises InvalidField if the style's text can't be drawn."""
    return await beside_the_loop(lambda: drawn_sheet(labels, layout, style, logo))


def drawn_sheet(labels: Sequence[Label], layout: SheetLayout, style: QrStyle, logo: bytes | None) -> bytes:
    """A PDF file with these labels. Raises InvalidField if the style's text can't be drawn."""
    from backend.web.qr_codes import drawing, sheet  # noqa: PLC0415 - few processes draw

    drawing.refuse_unknown_letters(style.text)
    return sheet.draw_sheet(labels, layout, style, logo)


async def kept_logo(field: str, data: bytes) -> bytes:
    """The image as it is kept and drawn. Raises InvalidField unless it is an image that can be a logo."""
    return await beside_the_loop(lambda: read_logo_file(field, data))


def read_logo_file(field: str, data: bytes) -> bytes:
    """The image as it is kept and drawn. Raises InvalidField unless it is an image that can be a logo."""
    from backend.web.qr_codes.logo import read_logo  # noqa: PLC0415 - few processes draw

    return read_logo(field, data)
