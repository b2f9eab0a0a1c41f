"""Passwords of links are hashed before anything else is done with them."""

from __future__ import annotations

from backend.domain.links.operations import (
    ChangeLink,
    CreateLink,
    DomainNotConfigured,
    LinkGone,
    LinkOperation,
    UpsertLink,
    fields_of,
    with_fields,
)
from backend.rest_api.links.service import LinkService
from backend.rest_api.routes.blueprint import caller
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.links.links import find_link
from backend.web.current import of_app, resources


async def with_hash(operation: LinkOperation) -> LinkOperation:
    """The operation with the hash of the password that it gives, if it does.

    A hash is dear, so what is refused anyway is refused before: raises DomainNotConfigured or LinkGone.
    """
    fields = fields_of(operation)
    if "password" not in fields:
        return operation
    if fields["password"] is not None:
        await _refuse_in_vain(operation)
    return with_fields(operation, await with_password_hash(fields))


async def _refuse_in_vain(operation: LinkOperation) -> None:
    org_id = caller().org_id
    match operation:
        case CreateLink(new) | UpsertLink(new):
            owners = await of_app(LinkService).owners.find({new.domain})
            if owners.get(new.domain) != org_id:
                raise DomainNotConfigured(new.domain)
        case ChangeLink(link_id):
            if await find_link(resources().database, link_id, org_id) is None:
                raise LinkGone(link_id)
