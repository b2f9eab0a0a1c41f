"""GET /links/{id}/qr and POST /links/qr-sheet: QR codes of links, to download and to print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Schema, Uuid, Word
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.qr_style import (
    MOST_LABELS,
    STYLE_FIELDS,
    Label,
    QrFormat,
    SheetLayout,
    style_of,
)
from backend.json_api import error_table
from backend.json_api.rate_limit import weigh
from backend.rest_api.links.reference import LINK_ID, is_within_reach, own_link
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_flag import QueryFlag
from backend.rest_api.routes.query_string import query_error
from backend.storage.links.links import find_links
from backend.storage.links.qr_logos import find_logo
from backend.web.current import resources
from backend.web.qr_codes.files import MEDIA_TYPES, qr_file, qr_sheet

_PDF = MEDIA_TYPES[QrFormat.PDF]
_FILES = {
    MEDIA_TYPES[QrFormat.SVG]: "A drawing that scales to any size.",
    MEDIA_TYPES[QrFormat.PNG]: "A picture of at least 600 pixels in width, if the code has a style.",
    _PDF: "A page with the code, to print.",
}


class _LinkIds:
    """The ids of links, each once."""

    _RULE = Uuid()

    def parse(self, field: str, value: object) -> list[LinkId]:
        """The ids, in the order in which they were given. Raises InvalidField."""
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_LABELS:
            raise InvalidField(field, f"must be a list of 1 to {MOST_LABELS} ids of links")
        ids = [LinkId(self._RULE.parse(f"{field}[{place}]", text)) for place, text in enumerate(value)]
        return list(dict.fromkeys(ids))

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self._RULE.schema(), "minItems": 1, "maxItems": MOST_LABELS}


_QUERY = {
    "format": QueryParameter(Word(QrFormat), "Form of the file.", default=QrFormat.SVG.value),
    "color": QueryParameter(STYLE_FIELDS["color"], "Of the dark parts and the frame; without it, black."),
    "background": QueryParameter(STYLE_FIELDS["background"], "Of the light parts; without it, white."),
    "text": QueryParameter(STYLE_FIELDS["text"], "Below the code, in a frame."),
    "logo": QueryParameter(QueryFlag(), "Whether the organization's logo stands in the middle."),
}
_SHEET = BodyFields(
    {"links": _LinkIds(), "layout": Word(SheetLayout), **STYLE_FIELDS, "logo": Flag()},
    required=("links",),
    clearable=frozenset({*STYLE_FIELDS, "layout"}),
)


@Operation(
    method="GET",
    path="/links/<link:link_text>/qr",
    summary="Get the QR code of a link, in a style",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    path_parameter=LINK_ID,
    query=_QUERY,
    files=_FILES,
    errors=(error_table.TOO_MUCH_WAITS,),
)
async def get_qr_code(link_id: LinkId, query: dict[str, Any]) -> Response:
    """The code as a file. Colours that cameras can't tell apart are refused."""
    link = await own_link(link_id)
    try:
        style = style_of(query)
        logo = await _logo_of(query, caller().org_id)
        short_url = resources().short_url_form.write(link.domain, link.path)
        form = query.get("format", QrFormat.SVG)
        file = await qr_file(caller().org_id, short_url, form, style, logo)
        return Response(file, mimetype=MEDIA_TYPES[form])
    except InvalidField as error:
        raise query_error(error.field, error.rule) from None


@Operation(
    method="POST",
    path="/links/qr-sheet",
    summary="Get a sheet of labels with the QR codes of links, to print",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    body=_SHEET,
    files={_PDF: "Pages of labels, in the order of the links: code, name and short URL of each."},
    errors=(error_table.TOO_MUCH_WAITS,),
)
async def print_qr_codes(fields: dict[str, Any]) -> Response:
    """A PDF file for sheets of labels as they are sold."""
    style = style_of(fields)
    logo = await _logo_of(fields, caller().org_id)
    ids: list[LinkId] = fields["links"]
    await weigh(len(ids))
    links = await find_links(resources().database, ids, caller().org_id)
    for place, link_id in enumerate(ids):
        if link_id not in links or not is_within_reach(links[link_id]):
            raise InvalidField(f"links[{place}]", "must be the id of a link of the organization")
    form = resources().short_url_form
    labels = [
        Label(link.link_name, form.write(link.domain, link.path))
        for link in (links[link_id] for link_id in ids)
    ]
    layout = fields.get("layout") or SheetLayout.A4_24
    return Response(await qr_sheet(caller().org_id, labels, layout, style, logo), mimetype=_PDF)


async def _logo_of(fields: Mapping[str, Any], org_id: OrgId) -> bytes | None:
    """The organization's logo, if the request asks for it. Raises InvalidField if there is none."""
    if not fields.get("logo"):
        return None
    logo = await find_logo(resources().database, org_id)
    if logo is None:
        raise InvalidField("logo", "must be set with PUT /qr-logo before it can be used")
    return logo
