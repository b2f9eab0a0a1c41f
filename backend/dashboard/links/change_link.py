"""/links/ID/edit and /links/ID/status: change a link."""

from __future__ import annotations

from quart import Response, redirect, url_for

from backend.current import resources
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.page import page
from backend.dashboard.links.link_form import (
    CHANGE_RULES,
    Fields,
    Problems,
    fields_of,
    read_body,
    sent_fields,
)
from backend.dashboard.links.own_link import own_link, short_url_of
from backend.domain.errors import InvalidField
from backend.domain.link_input import Changes, apply_changes, parse_changes
from backend.domain.links import Link
from backend.storage.links import change_link
from backend.storage.loops import may_loop
from backend.storage.new_links import refuse_loop


@dashboard.get("/links/<link_id>/edit")
async def links_edit(link_id: str) -> Response:
    """The form with the link's fields."""
    link = await own_link(link_id)
    return await _form(link, fields_of(link), {})


@dashboard.post("/links/<link_id>/edit")
async def links_change(link_id: str) -> Response:
    """Change the link and show it, or the form again with what is wrong."""
    link = await own_link(link_id)
    fields = sent_fields(CHANGE_RULES)
    body, problems = read_body(fields, CHANGE_RULES)
    changes = {} if problems else parse_changes(body)
    changed = apply_changes(link, changes)
    try:
        if may_loop(changes):
            await refuse_loop(resources().database, changed)
    except InvalidField as error:
        problems[error.field] = error.rule
    if problems:
        return await _form(link, fields, problems)
    if changed != link:
        await _store(link, changes)
    return _back(link, "link-changed")


@dashboard.post("/links/<link_id>/status")
async def links_status(link_id: str) -> Response:
    """Enable or disable the link."""
    link = await own_link(link_id)
    is_enabled = field("is_enabled") == "true"
    if link.is_enabled is not is_enabled:
        await _store(link, {"is_enabled": is_enabled})
    return _back(link, "link-enabled" if is_enabled else "link-disabled")


async def _store(link: Link, changes: Changes) -> None:
    now = resources().clock().replace(microsecond=0)
    await change_link(resources().database, link.id, org_id(), changes, now)


def _back(link: Link, notice: str) -> Response:
    return redirect(url_for("dashboard.links_one", link_id=link.id, notice=notice), 303)  # type: ignore[return-value]


async def _form(link: Link, fields: Fields, problems: Problems) -> Response:
    status = 422 if problems else 200
    return await page(
        "links/link_edit.html",
        status,
        link=link,
        short_url=short_url_of(link),
        fields=fields,
        problems=problems,
    )
