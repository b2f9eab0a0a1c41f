"""QR codes as drawings: in colours, with a logo, and in a frame with a text; as SVG, PNG and PDF.

A drawing is a list of shapes, measured in modules, the squares of a code. Each format is made of the same
shapes, so that all show the same.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from itertools import groupby

import segno
from font_roboto import RobotoMedium
from fontTools.ttLib import TTFont
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from backend.domain.errors import InvalidField
from backend.domain.links.qr_style import QrStyle

# The form of a code asks for four light modules around it (ISO/IEC 18004, "quiet zone").
_QUIET = 4
_FRAME, _BAND = 1, 7  # modules of the frame's line, and of the band with its text
# Of the code's width. With the highest error correction, 30 % of a code may be missing: this is 5 % of it,
# and less than 10 % with the light line around the logo in the smallest codes.
_LOGO_SHARE = 0.22
_PIXELS, _SMALLEST_PNG = 8, 600  # of a module, at least; of a drawing's width
_PDF_WIDTH = 60.0  # millimetres
_FONT = "Roboto"
# A constant: what is drawn depends on what is asked for only.
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its left and upper edges, its size and its colour."""

    x: float
    y: float
    width: float
    height: float
    color: str


@dataclass(frozen=True, slots=True)
class Lettering:
    """A text in the middle of a box of this centre, of this size and width."""

    x: float
    y: float
    size: float
    width: float
    text: str
    color: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An image file in a box."""

    x: float
    y: float
    width: float
    height: float
    png: bytes


DrawnShape = Box | Lettering | Picture


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are drawn, and the size of all."""

    width: float
    height: float
    shapes: Sequence[DrawnShape]


def draw(url: str, style: QrStyle, logo: bytes | None = None) -> Drawing:
    """The code of this address. `logo` is an image as `read_logo` gives it.

    With a logo, the code has the highest error correction, so that it can be read without what the logo
    covers. Otherwise it has the highest that takes no larger code.
    """
    code = segno.make_qr(url, error="h" if logo else None)
    rows = [bytes(row) for row in code.matrix]
    modules = len(rows)
    edge = _FRAME if style.text else 0
    side = modules + 2 * _QUIET
    width = side + 2 * edge
    height = width + (_BAND if style.text else 0)
    shapes: list[DrawnShape] = []
    if style.text:
        shapes.append(Box(0, 0, width, height, style.color))
    shapes.append(Box(edge, edge, side, side, style.background))
    begin = edge + _QUIET
    shapes += (
        Box(begin + x, begin + y, length, 1, style.color)
        for y, row in enumerate(rows)
        for x, length in _runs(row)
    )
    if logo:
        shapes += _logo(logo, begin + modules / 2, modules, style)
    if style.text:
        shapes.append(_words(style, width, height))
    return Drawing(width, height, shapes)


def _runs(row: bytes) -> Iterator[tuple[int, int]]:
    """Where dark modules begin in a row, and how many there are."""
    at = 0
    for is_dark, modules in groupby(row, key=bool):
        length = len(list(modules))
        if is_dark:
            yield at, length
        at += length


def _logo(logo: bytes, center: float, modules: int, style: QrStyle) -> Iterator[DrawnShape]:
    """The logo in the middle, on a light ground of whole modules."""
    ground = round(modules * _LOGO_SHARE)
    ground += (ground - modules) % 2  # odd as the code is
    side = ground - 1
    columns, rows = Image.open(io.BytesIO(logo)).size
    width, height = side * min(1, columns / rows), side * min(1, rows / columns)
    yield Box(center - ground / 2, center - ground / 2, ground, ground, style.background)
    yield Picture(center - width / 2, center - height / 2, width, height, logo)


def _words(style: QrStyle, width: float, height: float) -> Lettering:
    """The text in the band below the code, as large as fits."""
    widest, tallest = width - 2 * _FRAME - 2, _BAND * 0.62
    share = _font(100).getlength(style.text) / 100  # the width of the text for each unit of its size
    size = min(tallest, widest / share)
    center = height - (_BAND + _FRAME) / 2
    return Lettering(width / 2, center, size, share * size, style.text, style.background)


def refuse_unknown_letters(text: str) -> None:
    """Raise InvalidField if the font can't write the text."""
    if missing := sorted({letter for letter in text if not can_write(letter)}):
        raise InvalidField(
            "text", f"must have letters that can be drawn (Latin, Greek, Cyrillic), not {missing[0]}"
        )


def can_write(text: str) -> bool:
    """Whether the font has all letters of the text."""
    return all(ord(letter) in _letters() for letter in text)


@cache
def _letters() -> frozenset[int]:
    with TTFont(RobotoMedium, lazy=True) as font:
        return frozenset(font.getBestCmap())


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(RobotoMedium, size)


def as_svg(drawing: Drawing) -> bytes:
    """The drawing as an SVG file, which scales to any size."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width * _PIXELS:g}" '
        f'height="{drawing.height * _PIXELS:g}" viewBox="0 0 {drawing.width:g} {drawing.height:g}">'
    ]
    for color, boxes in groupby(drawing.shapes, key=lambda shape: getattr(shape, "color", "")):
        group = list(boxes)
        if path := "".join(_svg_box(shape) for shape in group if isinstance(shape, Box)):
            parts.append(f'<path fill="{color}" shape-rendering="crispEdges" d="{path}"/>')
        parts += (_svg_other(shape) for shape in group if not isinstance(shape, Box))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{"".join(parts)}</svg>\n'.encode()


def _svg_box(box: Box) -> str:
    return f"M{box.x:g} {box.y:g}h{box.width:g}v{box.height:g}h-{box.width:g}z"


def _svg_other(shape: Lettering | Picture) -> str:
    if isinstance(shape, Picture):
        data = base64.b64encode(shape.png).decode("ascii")
        return (
            f'<image x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}" '
            f'href="data:image/png;base64,{data}"/>'
        )
    return (
        f'<text x="{shape.x:g}" y="{shape.y:g}" fill="{shape.color}" font-size="{shape.size:g}" '
        f'textLength="{shape.width:g}" lengthAdjust="spacingAndGlyphs" text-anchor="middle" '
        'dominant-baseline="central" font-family="Roboto, Helvetica, Arial, sans-serif" '
        f'font-weight="500">{escape(shape.text)}</text>'
    )


def as_png(drawing: Drawing) -> bytes:
    """The drawing as a PNG file, a module as a whole number of pixels."""
    scale = max(_PIXELS, -(-_SMALLEST_PNG // int(drawing.width)))
    image = Image.new("RGB", (int(drawing.width) * scale, int(drawing.height) * scale), "white")
    canvas = ImageDraw.Draw(image)
    for shape in drawing.shapes:
        match shape:
            case Box():
                left, top = round(shape.x * scale), round(shape.y * scale)
                right, bottom = (
                    round((shape.x + shape.width) * scale),
                    round((shape.y + shape.height) * scale),
                )
                canvas.rectangle((left, top, right - 1, bottom - 1), fill=shape.color)
            case Lettering():
                font = _font(max(1, int(shape.size * scale)))
                canvas.text((shape.x * scale, shape.y * scale), shape.text, shape.color, font, "mm")
            case Picture():
                size = max(1, round(shape.width * scale)), max(1, round(shape.height * scale))
                picture = Image.open(io.BytesIO(shape.png)).convert("RGBA").resize(size)
                image.paste(picture, (round(shape.x * scale), round(shape.y * scale)), picture)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def as_pdf(drawing: Drawing) -> bytes:
    """The drawing as a PDF file of one page, which scales to any size."""
    scale = _PDF_WIDTH / drawing.width
    pdf = new_pdf((_PDF_WIDTH, drawing.height * scale))
    pdf.add_page()
    draw_on(pdf, drawing, 0, 0, scale)
    return bytes(pdf.output())


def new_pdf(size: tuple[float, float]) -> FPDF:
    """An empty PDF file with pages of this size in millimetres."""
    pdf = FPDF(unit="mm", format=size)
    pdf.set_auto_page_break(False)
    pdf.set_margin(0)
    pdf.set_creation_date(_EPOCH)
    pdf.add_font(_FONT, fname=RobotoMedium)
    pdf.set_font(_FONT)
    return pdf


def draw_on(pdf: FPDF, drawing: Drawing, left: float, top: float, scale: float) -> None:
    """Draw it on the page, its upper left corner there, with so many millimetres for a module."""
    for shape in drawing.shapes:
        x, y = left + shape.x * scale, top + shape.y * scale
        match shape:
            case Box():
                pdf.set_fill_color(shape.color)
                pdf.rect(x, y, shape.width * scale, shape.height * scale, style="F")
            case Lettering():
                pdf.set_font(_FONT, size=shape.size * scale * pdf.k)
                pdf.set_text_color(shape.color)
                # The baseline: capitals of this font are 0.71 of its size high.
                pdf.text(x - pdf.get_string_width(shape.text) / 2, y + 0.355 * shape.size * scale, shape.text)
            case Picture():
                pdf.image(io.BytesIO(shape.png), x, y, shape.width * scale, shape.height * scale)
