"""QR codes in colours, with logo and frame, are read by a decoder in every format."""

from __future__ import annotations

import io

import pypdfium2
import pytest
import zxingcpp
from PIL import Image

from backend.domain.errors import InvalidField
from backend.domain.links.qr_style import Label, QrStyle, SheetLayout
from backend.web.qr_codes.drawing import Drawing, as_pdf, as_png, as_svg, draw, refuse_unknown_letters
from backend.web.qr_codes.files import drawn_sheet
from backend.web.qr_codes.logo import LOGO_PIXELS, read_logo

SHORT, LONG = "https://go.shop.example/spring", f"https://go.shop.example/{'x' * 490}"
STYLES = [QrStyle(), QrStyle("#1f5fbf", "#fff7e0", "Größe & <Maß> ЖΩ"), QrStyle("#5c0a2e", text="i")]


def image_file(width: int, height: int, color: str = "#d33", form: str = "PNG") -> bytes:
    """An image of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), color).save(file, form)
    return file.getvalue()


def texts(image: Image.Image) -> list[str]:
    """The texts of all codes in a picture."""
    return [code.text for code in zxingcpp.read_barcodes(image)]


def pages(pdf: bytes, scale: float) -> list[Image.Image]:
    """The pages of a PDF file as pictures."""
    return [page.render(scale=scale).to_pil() for page in pypdfium2.PdfDocument(pdf)]


def drawing_of(url: str, style: QrStyle, logo: tuple[int, int] | None) -> Drawing:
    """A code with a logo of this size."""
    return draw(url, style, read_logo("logo", image_file(*logo)) if logo else None)


@pytest.mark.parametrize("logo", [None, (100, 100), (400, 50), (50, 400)])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("url", [SHORT, LONG])
def test_a_decoder_reads_them(url: str, style: QrStyle, logo: tuple[int, int] | None) -> None:
    """PNG and PDF, of short and long addresses, with wide and tall logos; also a small picture of the PNG."""
    drawing = drawing_of(url, style, logo)
    png = Image.open(io.BytesIO(as_png(drawing)))
    assert texts(png) == [url]
    if url == SHORT:
        assert texts(png.resize((png.width // 4, png.height // 4))) == [url]
        [page] = pages(as_pdf(drawing), 3)
        assert texts(page) == [url]


def test_the_svg_has_the_same_shapes() -> None:
    """Its boxes are those of the drawing; texts are escaped, and nothing is loaded from elsewhere."""
    drawing = drawing_of(SHORT, STYLES[1], (100, 100))
    svg = as_svg(drawing).decode()
    assert svg.count("M") > 250
    assert "Größe &amp; &lt;Maß&gt;" in svg
    assert svg.count("href=") == svg.count('href="data:image/png;base64,') == 1
    assert as_svg(drawing) == as_svg(drawing_of(SHORT, STYLES[1], (100, 100)))
    assert as_pdf(drawing) == as_pdf(drawing)


def test_letters_that_can_not_be_drawn() -> None:
    """A text is refused, with the field's name, rather than drawn with boxes in it."""
    refuse_unknown_letters("Scan me – größer, Жук, Ωμέγα")
    with pytest.raises(InvalidField, match="text must have letters that can be drawn"):
        refuse_unknown_letters("扫一扫")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "must be a PNG, JPEG or WebP image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "must be a PNG, JPEG or WebP image"),
        (image_file(10, 10, form="BMP"), "must be a PNG, JPEG or WebP image"),
        (image_file(100, 100)[:60], "must be a PNG, JPEG or WebP image"),
        (image_file(5000, 1), "4096"),
        (b"x" * 300_000, "256 KiB"),
    ],
)
def test_what_is_no_logo(data: bytes, reason: str) -> None:
    """The error names the field and the rule."""
    with pytest.raises(InvalidField, match=f"logo .*{reason}"):
        read_logo("logo", data)


def test_a_logo_is_made_small_and_plain() -> None:
    """Whatever it is sent as, it becomes a PNG of a bounded size, without what else was in the file."""
    logo = Image.open(io.BytesIO(read_logo("logo", image_file(2000, 500, form="JPEG"))))
    assert (logo.format, logo.size) == ("PNG", (LOGO_PIXELS, LOGO_PIXELS // 4))


@pytest.mark.parametrize("layout", list(SheetLayout))
def test_sheets(layout: SheetLayout) -> None:
    """Each label is on its page once, its code can be read, and its words can be found."""
    labels = [
        Label(f"Link {number} " + "of a long name " * (number % 9), f"https://go.shop.example/p{number}")
        for number in range(31)
    ]
    pdf = drawn_sheet(labels, layout, QrStyle(), None)
    on_page = int(layout.rpartition("-")[2])
    found = [texts(page) for page in pages(pdf, 2)]
    assert [len(codes) for codes in found] == [
        min(on_page, len(labels) - begin) for begin in range(0, len(labels), on_page)
    ]
    assert {code for codes in found for code in codes} == {label.short_url for label in labels}
    words = pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range()
    assert "Link 0" in words
    assert "go.shop.example/p" in words
