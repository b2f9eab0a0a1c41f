"""/links/new: create a link."""

from __future__ import annotations

from quart import Response, redirect, url_for

from backend.current import resources
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.links.link_form import EMPTY, NEW_RULES, Fields, Problems, read_body, sent_fields
from backend.domain.errors import InvalidField
from backend.domain.link_input import parse_new_link
from backend.domain.link_operations import CreateLink, DomainNotConfigured, LinkRequest, PathTaken
from backend.domain.links import CreatedBy, Link
from backend.storage.domains import list_domains
from backend.storage.link_writes import store_link


@dashboard.get("/links/new")
async def links_new() -> Response:
    """An empty form for a new link."""
    return await _form(EMPTY, {})


@dashboard.post("/links/new")
async def links_create() -> Response:
    """Create the link and show it; if the input is invalid, show the form again with the errors."""
    fields = sent_fields(NEW_RULES)
    body, problems = read_body(fields, NEW_RULES)
    if not problems:
        try:
            link = await _store(body)
        except InvalidField as error:
            problems[error.field] = error.rule
        else:
            return redirect(url_for("dashboard.links_one", link_id=link.id, notice="link-made"), 303)  # type: ignore[return-value]
    return await _form(fields, problems)


async def _store(body: dict[str, object]) -> Link:
    """Create and store the link. Raises InvalidField."""
    try:
        create = CreateLink(parse_new_link(body))
        request = LinkRequest(org_id(), CreatedBy.DASHBOARD, resources().clock(), create)
        return await store_link(resources().database, request, resources().destinations)
    except PathTaken:
        raise InvalidField("selected_path", "is already in use on this domain") from None
    except DomainNotConfigured:
        raise InvalidField("domain", "is not one of this organization's domains") from None


async def _form(fields: Fields, problems: Problems) -> Response:
    domains = await list_domains(resources().database, org_id())
    choices = [(name, name) for name in domains]
    status = 422 if problems else 200
    return await page("links/link_new.html", status, fields=fields, problems=problems, domains=choices)
