"""Operations on links with hashes in place of passwords."""

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
from backend.rest_api.links.reference import find_own_link
from backend.rest_api.links.service import LinkService
from backend.rest_api.routes.blueprint import caller, reach
from backend.storage.accounts.users.passwords import with_password_hash
from backend.web.current import of_app


async def with_hash(operation: LinkOperation) -> LinkOperation:
    """The operation with a hash in place of its password, if it sets one.

    Raises TooManyWait, and DomainNotConfigured, LinkGone, InvalidField or NoNewLinks before a password is
    hashed: a hash takes long, and an operation without its domain or link would be rejected afterwards.
    """
    fields = fields_of(operation)
    if "password" not in fields:
        return operation
    if fields["password"] is not None:
        await _check_before_hashing(operation)
    return with_fields(operation, await with_password_hash(fields, caller().org_id))


async def _check_before_hashing(operation: LinkOperation) -> None:
    org_id = caller().org_id
    match operation:
        case CreateLink(new) | UpsertLink(new):
            if within := reach():
                within.check_new(new.domain)
            owner = (await of_app(LinkService).owners.find({new.domain})).get(new.domain)
            if owner is None or owner.org_id != org_id:
                raise DomainNotConfigured(new.domain)
        case ChangeLink(link_id):
            if await find_own_link(link_id) is None:
                raise LinkGone(link_id)
