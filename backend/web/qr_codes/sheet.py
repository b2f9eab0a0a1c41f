"""Sheets of QR codes to print: labels with a code, the link's name and its short URL, as PDF."""

from __future__ import annotations

from dataclasses import dataclass

from fpdf import FPDF

from backend.domain.links.qr_style import Label, QrStyle, SheetLayout
from backend.web.qr_codes.drawing import can_write, draw, draw_on, new_pdf

_A4, _LETTER = (210.0, 297.0), (215.9, 279.4)
_PADDING = 3.0  # millimetres, inside of a label
_CODE_SHARE = 0.5  # of a label's width, at most, unless there is no room for words beside it
_NAME_POINTS, _URL_POINTS = 9.0, 7.0
_MOST_LINES = 3
_LINE = 1.25  # of a text's size
_POINT = 25.4 / 72  # millimetres
_TEXT, _SOFT = "#000000", "#444444"


@dataclass(frozen=True, slots=True)
class _Grid:
    """The labels of a sheet, in millimetres: how many, how large, where they begin, the gaps."""

    page: tuple[float, float]
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    between: float


# The sizes of labels that are sold everywhere: Avery L7165, L7160, 3474 and 5160.
_GRIDS = {
    SheetLayout.A4_8: _Grid(_A4, 2, 4, 99.1, 67.7, 4.65, 13.1, 2.5),
    SheetLayout.A4_21: _Grid(_A4, 3, 7, 63.5, 38.1, 7.25, 15.15, 2.5),
    SheetLayout.A4_24: _Grid(_A4, 3, 8, 70.0, 37.0, 0.0, 0.5, 0.0),
    SheetLayout.LETTER_30: _Grid(_LETTER, 3, 10, 66.675, 25.4, 4.76, 12.7, 3.175),
}


class Sheet:
    """Labels on as many pages as they need, drawn one by one: hundreds of them take seconds."""

    def __init__(self, layout: SheetLayout, style: QrStyle, logo: bytes | None = None) -> None:
        self._grid = _GRIDS[layout]
        self._style = style
        self._logo = logo
        self._pdf = new_pdf(self._grid.page)
        self._labels = 0

    def add(self, label: Label) -> None:
        """Draw the next label."""
        grid = self._grid
        place = self._labels % (grid.columns * grid.rows)
        if place == 0:
            self._pdf.add_page()
        row, column = divmod(place, grid.columns)
        left = grid.left + column * (grid.width + grid.between)
        _draw_label(self._pdf, label, left, grid.top + row * grid.height, grid, self._style, self._logo)
        self._labels += 1

    def file(self) -> bytes:
        """The labels as a PDF file."""
        return bytes(self._pdf.output())


def _draw_label(  # noqa: PLR0917 - a place on a page
    pdf: FPDF, label: Label, left: float, top: float, grid: _Grid, style: QrStyle, logo: bytes | None
) -> None:
    drawing = draw(label.short_url, style, logo)
    room = grid.height - 2 * _PADDING
    scale = min(room / drawing.height, grid.width * _CODE_SHARE / drawing.width)
    width, height = drawing.width * scale, drawing.height * scale
    draw_on(pdf, drawing, left + _PADDING, top + (grid.height - height) / 2, scale)
    words_left = left + 2 * _PADDING + width
    words_width = left + grid.width - _PADDING - words_left
    name = label.name if can_write(label.name) else ""
    lines = [
        *((line, _NAME_POINTS, _TEXT) for line in _wrapped(pdf, name, _NAME_POINTS, words_width)),
        *(
            (line, _URL_POINTS, _SOFT)
            for line in _wrapped(pdf, label.short_url.partition("://")[2], _URL_POINTS, words_width)
        ),
    ]
    tall = sum(points for _, points, _ in lines) * _POINT * _LINE
    baseline = top + (grid.height - tall) / 2
    for line, points, color in lines:
        pdf.set_font(size=points)
        pdf.set_text_color(color)
        baseline += points * _POINT * _LINE
        pdf.text(words_left, baseline - 0.3 * points * _POINT, line)


def _wrapped(pdf: FPDF, text: str, points: float, width: float) -> list[str]:
    """The text in lines of this width, broken between words, or within one that is longer than a line.

    At most _MOST_LINES; … stands for the rest.
    """
    pdf.set_font(size=points)
    lines: list[str] = []
    rest = " ".join(text.split())
    while rest and len(lines) < _MOST_LINES:
        fitting = _fitting(pdf, rest, width)
        if fitting < len(rest) and (space := rest.rfind(" ", 0, fitting + 1)) > 0:
            fitting = space
        lines.append(rest[:fitting].rstrip())
        rest = rest[fitting:].lstrip()
    if rest:
        lines[-1] = f"{lines[-1][:-1]}…"
    return lines


def _fitting(pdf: FPDF, text: str, width: float) -> int:
    """How many letters of the text fit into the width, at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if pdf.get_string_width(text[:middle]) <= width else (low, middle - 1)
    return low
