"""/links/qr-sheet: a sheet of labels with the QR codes of many links, to print."""

from __future__ import annotations

from quart import Response, url_for
from werkzeug.exceptions import TooManyRequests

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.page import page
from backend.dashboard.frame.service import DashboardService
from backend.dashboard.links.bulk_choice import own_links, sent_ids, ticked_ids
from backend.dashboard.links.editing.form import Problems
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.link_query import read_link_query
from backend.dashboard.links.qr_codes.style_form import read_style
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.links.links import Link
from backend.domain.links.qr_style import MOST_LABELS, Label, QrFormat, SheetLayout
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.links.lists.listing import TooManyToRank
from backend.storage.links.qr_logos import has_logo
from backend.web.current import of_app, resources
from backend.web.qr_codes.files import MEDIA_TYPES, qr_sheet

_LAYOUTS = [
    (SheetLayout.A4_24, "A4, 24 labels of 70 × 37 mm"),
    (SheetLayout.A4_21, "A4, 21 labels of 63.5 × 38.1 mm (L7160)"),
    (SheetLayout.A4_8, "A4, 8 labels of 99.1 × 67.7 mm (L7165)"),
    (SheetLayout.LETTER_30, "US Letter, 30 labels of 2⅝ × 1 inch (5160)"),
]


@dashboard.post("/links/qr-sheet")
@needs(Permission.LINKS_READ)
async def links_qr_sheet() -> Response:
    """The form for a sheet of the ticked links, with their number and their names."""
    lift_deadline()  # it finds links as the list of links does, and writes nothing
    query = await read_link_query()
    links, problem = list[Link](), "No link is chosen. Tick those that are meant, and try again."
    try:
        links = await own_links(await ticked_ids(query))
    except TooManyToRank:
        links = []
        problem = _too_many()
    if len(links) > MOST_LABELS:
        links, problem = [], _too_many()
    return await _form(links, {}, problem)


@dashboard.post("/links/qr-sheet/file")
@needs(Permission.LINKS_READ)
async def links_qr_sheet_file() -> Response:
    """The sheet as a PDF file; the form again if the style can't be drawn."""
    lift_deadline()
    links = await own_links(sent_ids())
    if not 1 <= len(links) <= MOST_LABELS:
        return await _form([], {}, _too_many() if links else "These links are gone.")
    sent = await read_style(form(), org_id())
    if sent.problems:
        return await _form(links, sent.problems)
    chosen = field("layout")
    layout = SheetLayout(chosen) if chosen in list(SheetLayout) else SheetLayout.A4_24
    labels = [Label(link.link_name, short_url_of(link)) for link in links]
    limit = await of_app(DashboardService).labels.count(org_id(), len(labels))
    if not limit.allowed:
        raise TooManyRequests(retry_after=limit.reset_after)
    try:
        file = await qr_sheet(org_id(), labels, layout, sent.style, sent.logo)
    except InvalidField as error:
        return await _form(links, {"qr_text": error.rule})
    response = Response(file, mimetype=MEDIA_TYPES[QrFormat.PDF])
    response.headers["Content-Disposition"] = 'attachment; filename="qr-codes.pdf"'
    return response


def _too_many() -> str:
    return f"A sheet has at most {MOST_LABELS} links. Filter, and print it in parts."


async def _form(links: list[Link], problems: Problems, problem: str = "") -> Response:
    sent = await read_style(form(), org_id())
    return await page(
        "links/qr_sheet.html",
        422 if problems or not links else 200,
        links=links,
        short_urls={link.id: short_url_of(link) for link in links},
        problem=problem,
        problems=problems,
        fields=sent.fields | {"layout": field("layout")},
        layouts=_LAYOUTS,
        has_logo=await has_logo(resources().database, org_id()),
        back=url_for("dashboard.links"),
    )
