"""POST /links: an app makes a link, such as an invitation by the person who uses it."""

from __future__ import annotations

from typing import Any

from backend.app_api.blueprint import app_api, calling_key
from backend.app_api.service import AppService
from backend.domain.ids import OrgId
from backend.domain.links.invitations import Invitation, parse_invitation
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import CreateLink, DomainNotConfigured, ExternalIdTaken, LinkRequest
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.call_limits import sender
from backend.json_api.json_body import body_bytes, read_json_object
from backend.storage.links.links import find_link_by_external_id
from backend.storage.links.writing.writes import Submission
from backend.web.current import of_app, resources


@app_api.post("/links")
async def make_link() -> tuple[dict[str, Any], int]:
    """Make the link of an invitation; if its external id is known, return the link that it has.

    A link with that external id which no app made is nothing for apps.
    """
    key = calling_key()
    if key.links is None:
        raise ApiError(error_table.KEY_MAKES_NO_LINKS)
    invitation = parse_invitation(await read_json_object(), key.links)
    link, status = await _known_link(key.org_id, invitation), 200
    if link is None:
        await sender().count_link_of_app(key.org_id, invitation.install_id)
        link, status = await _make(key.org_id, invitation)
    if link.created_by is not CreatedBy.SDK:
        raise ApiError(error_table.EXTERNAL_ID_TAKEN)
    short_url = resources().short_url_form.write(link.domain, link.path)
    return {"id": link.id, "short_url": short_url}, status


async def _make(org_id: OrgId, invitation: Invitation) -> tuple[Link, int]:
    """The new link, or the one that another request has made with the same external id meanwhile."""
    request = LinkRequest(org_id, CreatedBy.SDK, resources().clock(), CreateLink(invitation.new))
    try:
        (outcome,) = await of_app(AppService).links.add(Submission([request]), body_bytes())
        return outcome.require_link(), 201
    except DomainNotConfigured:
        raise ApiError(error_table.DOMAIN_NOT_CONFIGURED) from None
    except ExternalIdTaken:
        link = await _known_link(org_id, invitation)
        if link is None:
            raise
        return link, 200


async def _known_link(org_id: OrgId, invitation: Invitation) -> Link | None:
    return await find_link_by_external_id(resources().database, invitation.external_id, org_id)
