"""QR codes and sheets of them as files, in any style, drawn beside the event loop.

What draws them is imported when it is needed: most processes only redirect.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.ids import OrgId
from backend.domain.links.qr_style import Label, QrFormat, QrStyle, SheetLayout
from backend.web.qr_codes.image import qr_image

if TYPE_CHECKING:
    from backend.web.qr_codes.sheet import Sheet

MEDIA_TYPES = {
    QrFormat.SVG: "image/svg+xml",
    QrFormat.PNG: "image/png",
    QrFormat.PDF: "application/pdf",
}
_PLAIN = QrStyle()


async def qr_file(
    org_id: OrgId, short_url: str, form: QrFormat, style: QrStyle, logo: bytes | None = None
) -> bytes:
    """The code of the organization's short URL as a file. `logo` is an image as `kept_logo` gives it.

    A plain code as SVG or PNG is the one that short URLs with `.qr.svg` and `.qr.png` answer. Raises
    InvalidField if the style's text can't be drawn, and TooManyWait.
    """
    if style == _PLAIN and logo is None and form is not QrFormat.PDF:
        return await qr_image(short_url, form.value)
    with LONG_WORK.admitted(org_id):
        return await LONG_WORK.run(org_id, lambda: drawn_code(short_url, form, style, logo))


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
    org_id: OrgId, labels: Sequence[Label], layout: SheetLayout, style: QrStyle, logo: bytes | None = None
) -> bytes:
    """A PDF file with these labels of the organization, drawn label by label.

    Raises InvalidField if the style's text can't be drawn, and TooManyWait.
    """
    with LONG_WORK.admitted(org_id):
        sheet = await LONG_WORK.run(org_id, lambda: _new_sheet(layout, style, logo))
        for label in labels:
            await LONG_WORK.run(org_id, partial(sheet.add, label))
        return await LONG_WORK.run(org_id, sheet.file)


def drawn_sheet(labels: Sequence[Label], layout: SheetLayout, style: QrStyle, logo: bytes | None) -> bytes:
    """A PDF file with these labels. Raises InvalidField if the style's text can't be drawn."""
    sheet = _new_sheet(layout, style, logo)
    for label in labels:
        sheet.add(label)
    return sheet.file()


def _new_sheet(layout: SheetLayout, style: QrStyle, logo: bytes | None) -> Sheet:
    from backend.web.qr_codes import drawing, sheet  # noqa: PLC0415 - few processes draw

    drawing.refuse_unknown_letters(style.text)
    return sheet.Sheet(layout, style, logo)


async def kept_logo(org_id: OrgId, field: str, data: bytes) -> bytes:
    """The organization's image as it is kept and drawn.

    Raises InvalidField unless it is an image that can be a logo, and TooManyWait.
    """
    with LONG_WORK.admitted(org_id):
        return await LONG_WORK.run(org_id, lambda: read_logo_file(field, data))


def read_logo_file(field: str, data: bytes) -> bytes:
    """The image as it is kept and drawn. Raises InvalidField unless it is an image that can be a logo."""
    from backend.web.qr_codes.logo import read_logo  # noqa: PLC0415 - few processes draw

    return read_logo(field, data)
