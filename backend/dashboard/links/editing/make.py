"""/links/new: create a link, anew or as a copy of another."""

from __future__ import annotations

from typing import Any

from quart import Response, abort, request

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.form import (
    EMPTY,
    NEW_RULES,
    Fields,
    Problems,
    fields_of,
    read_body,
    sent_fields,
)
from backend.dashboard.links.editing.forwarding_form import (
    empty_forwarding,
    forwarding_of,
    read_forwarding,
    sent_forwarding,
)
from backend.dashboard.links.editing.limit_form import empty_limits, limits_of, read_limits, sent_limits
from backend.dashboard.links.editing.own_link import own_link
from backend.dashboard.links.editing.tags import (
    TagChoices,
    choices_for,
    chosen_names,
    field_of,
    sent_choices,
)
from backend.dashboard.links.editing.usual_domain import usual_domain
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.links.input import NEW_LINK_FIELDS, parse_copy, parse_new_link
from backend.domain.links.links import UTM_FIELDS, CreatedBy, Link
from backend.domain.links.operations import (
    CreateLink,
    DomainNotConfigured,
    LinkGone,
    LinkRequest,
    PathTaken,
    with_fields,
)
from backend.domain.links.utm_templates import TEMPLATE_FIELD
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.links.utm_templates import list_templates
from backend.storage.links.writing.writes import store_link
from backend.web.current import resources

# The field with the id of the link that is copied, in the address and in the form.
COPY = "copy"
_LONGEST_NAME = 1024
_GIVEN = ("domain", "selected_path")


@dashboard.get("/links/new")
@needs(Permission.LINKS_WRITE)
async def links_new() -> Response:
    """A form for a new link: empty, or filled as the link that `copy` in the address names.

    The address may also give the domain and the path of the new link.
    """
    link_id = request.args.get(COPY)
    if not link_id:
        domain = await usual_domain(await list_domains(resources().database, org_id()))
        given = {name: request.args[name] for name in _GIVEN if name in request.args}
        fields = EMPTY | empty_limits() | empty_forwarding() | {"domain": domain} | given
        return await _form(fields, {}, await choices_for(()))
    link = await own_link(LinkId(link_id))
    name = f"Copy of {link.link_name}"[:_LONGEST_NAME]
    fields = fields_of(link) | limits_of(link) | forwarding_of(link)
    fields |= {"domain": link.domain, "link_name": name}
    return await _form(fields, {}, await choices_for(link.tag_ids), link)


@dashboard.post("/links/new")
@needs(Permission.LINKS_WRITE)
@once
async def links_create() -> Response:
    """Create the link and show it; if the input is invalid, show the form again with the errors."""
    link_id = field(COPY)
    copied = await own_link(LinkId(link_id)) if link_id else None
    fields = sent_fields(NEW_RULES) | sent_limits(copied) | sent_forwarding()
    fields |= {TEMPLATE_FIELD: field(TEMPLATE_FIELD)}
    choices = await sent_choices()
    body, problems = read_body(fields, NEW_RULES)
    for more, more_problems in (read_limits(fields), read_forwarding(fields)):
        body, problems = body | more, problems | more_problems
    body = body if copied else _as_of_domain(body)
    if not problems:
        try:
            link = await _store(_filled(body, fields) | {"tags": await chosen_names(choices)}, copied)
        except InvalidField as error:
            problems[field_of(error)] = error.rule
        else:
            return redirect_with_notice("links_one", "link-made", link_id=link.id)
    return await _form(fields, problems, choices, copied)


def _as_of_domain(body: dict[str, Any]) -> dict[str, Any]:
    """The body of a new link, where its domain and its destination say what an empty box leaves open."""
    open_by = {"forwards_path": False, "adds_link_id": True}
    return {name: value for name, value in body.items() if name not in open_by or value is not open_by[name]}


def _filled(body: dict[str, Any], fields: Fields) -> dict[str, Any]:
    """The body, with the name of the chosen UTM template, if any, in place of empty UTM fields."""
    if not fields[TEMPLATE_FIELD]:
        return body
    kept = {name: value for name, value in body.items() if value is not None or name not in UTM_FIELDS}
    return kept | {TEMPLATE_FIELD: fields[TEMPLATE_FIELD]}


async def _store(body: dict[str, Any], copied: Link | None) -> Link:
    """Create and store the link, with what `copied` has besides the fields of the form.

    Raises InvalidField. Answers 404 if the link that is copied does not exist any more.
    """
    try:
        if copied:
            create = CreateLink(parse_copy(body, copied.domain, NEW_LINK_FIELDS), copy_of=copied.id)
        else:
            create = CreateLink(parse_new_link(body, NEW_LINK_FIELDS))
        hashed = with_fields(create, await with_password_hash(create.new.fields, org_id()))
        made = LinkRequest(org_id(), CreatedBy.PERSON, resources().clock(), hashed)
        return await store_link(resources().database, made, resources().destinations)
    except PathTaken:
        raise InvalidField("selected_path", "is already in use on this domain") from None
    except DomainNotConfigured:
        raise InvalidField("domain", "is not one of this organization's domains") from None
    except LinkGone:
        abort(404)


async def _form(
    fields: Fields, problems: Problems, choices: TagChoices, copied: Link | None = None
) -> Response:
    domains = await list_domains(resources().database, org_id())
    return await page(
        "links/link_new.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        domains=[(name, name) for name in domains],
        tag_choices=choices,
        templates=await list_templates(resources().database, org_id()),
        copied=copied,
        is_new=copied is None,
    )
