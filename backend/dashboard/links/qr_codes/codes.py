"""/links/ID/qr: the QR code of a link, in the style that one chooses, and the organization's logo."""

from __future__ import annotations

import base64
from urllib.parse import urlencode

from quart import Response, abort, request

from backend.dashboard.frame.blueprint import accepts_forms_of, dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.form import Problems
from backend.dashboard.links.editing.own_link import own_link, short_url_of
from backend.dashboard.links.qr_codes.style_form import read_style
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.links.qr_style import QrFormat
from backend.storage.links.qr_logos import has_logo, remove_logo, set_logo
from backend.web.current import resources
from backend.web.qr_codes.files import MEDIA_TYPES, kept_logo, qr_file

# A logo of 256 KiB in base64, some of whose letters are percent-encoded.
_MOST_BYTES = 600_000


@dashboard.get("/links/<link_id>/qr")
@needs(Permission.LINKS_READ)
async def links_qr_page(link_id: LinkId) -> Response:
    """The link's code in the style of the address, the form for it, and the files."""
    return await _page(await own_link(link_id))


@dashboard.get("/links/<link_id>/qr.<kind>")
@needs(Permission.LINKS_READ)
async def links_qr(link_id: LinkId, kind: str) -> Response:
    """The link's QR code as SVG, PNG or PDF, in the style of the address.

    With `download` in the query string, browsers save it as a file. 422 for a style that can't be read.
    """
    link = await own_link(link_id)
    if kind not in list(QrFormat):
        abort(404)
    sent = await read_style(request.args, org_id())
    if sent.problems:
        abort(422)
    form = QrFormat(kind)
    try:
        file = await qr_file(org_id(), short_url_of(link), form, sent.style, sent.logo)
    except InvalidField:
        abort(422)
    response = Response(file, mimetype=MEDIA_TYPES[form])
    if "download" in request.args:
        name = link.path.replace("/", "-")
        response.headers["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response


@dashboard.post("/links/<link_id>/qr/logo")
@needs(Permission.SETTINGS_WRITE)
@accepts_forms_of(_MOST_BYTES)
async def links_qr_logo(link_id: LinkId) -> Response:
    """Keep the logo of the organization, or remove it. The image comes in base64: a script reads the file."""
    link = await own_link(link_id)
    if field("remove"):
        await remove_logo(resources().database, org_id())
        return redirect_with_notice("links_qr_page", "logo-removed", link_id=link.id)
    try:
        data = base64.b64decode(field("image"), validate=True)
        image = await kept_logo(org_id(), "image", data)
    except InvalidField as error:
        return await _page(link, {"image": error.rule})
    except ValueError:  # not base64, or not even ASCII
        return await _page(link, {"image": "must be an image file"})
    await set_logo(resources().database, org_id(), image, resources().clock())
    return redirect_with_notice("links_qr_page", "logo-kept", link_id=link.id, logo="true")


async def _page(link: Link, problems: Problems | None = None) -> Response:
    sent = await read_style(request.args, org_id())
    problems = sent.problems | (problems or {})
    if not problems:
        try:
            await qr_file(org_id(), short_url_of(link), QrFormat.SVG, sent.style, sent.logo)
        except InvalidField as error:
            problems = {"qr_text": error.rule}
    return await page(
        "links/qr.html",
        422 if problems else 200,
        link=link,
        short_url=short_url_of(link),
        fields=sent.fields,
        problems=problems,
        style="" if problems else urlencode({name: text for name, text in sent.fields.items() if text}),
        has_logo=await has_logo(resources().database, org_id()),
        formats=[form.value for form in QrFormat],
    )
