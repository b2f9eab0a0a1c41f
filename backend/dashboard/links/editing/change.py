"""/links/ID/edit and /links/ID/status: change a link."""

from __future__ import annotations

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import is_unchanged, of_stored
from backend.dashboard.links.editing.form import (
    CHANGE_RULES,
    Fields,
    Problems,
    fields_of,
    read_body,
    sent_fields,
)
from backend.dashboard.links.editing.forwarding_form import (
    forwarding_of,
    read_forwarding,
    sent_forwarding,
)
from backend.dashboard.links.editing.limit_form import NOT_STORED, limits_of, read_limits, sent_limits
from backend.dashboard.links.editing.own_link import own_link, short_url_of
from backend.dashboard.links.editing.tags import TagChoices, choices_for, field_of, sent_choices, tag_changes
from backend.dashboard.taps.labs import changes_of_link
from backend.dashboard.taps.words import ChangedTap
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.links.input import CHANGE_FIELDS, Changes, apply_changes, parse_changes
from backend.domain.links.limits import LIMIT_TIMES
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ChangeLink, LinkGone, LinkRequest
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.links.writing.writes import store_link
from backend.web.current import resources

# The name of the button that shows what a change does, before it is saved.
PREVIEW = "preview_taps"


async def _stored(link_id: LinkId) -> Fields:
    link = await own_link(link_id)
    fields = limits_of(link) | forwarding_of(link) | fields_of(link)
    return {name: text for name, text in fields.items() if name not in NOT_STORED}


@dashboard.get("/links/<link_id>/edit")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def links_edit(link_id: LinkId) -> Response:
    """The form with the link's current fields."""
    link = await own_link(link_id)
    return await change_form(link, fields_of(link), {})


@dashboard.post("/links/<link_id>/edit")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def links_change(link_id: LinkId) -> Response:
    """Change the link and show it; if the input is invalid, show the form again with the errors."""
    link = await own_link(link_id)
    fields = sent_fields(CHANGE_RULES) | sent_limits(link) | sent_forwarding()
    choices = await sent_choices()
    body, problems = read_body(fields, CHANGE_RULES)
    for more, more_problems in (read_limits(fields), read_forwarding(fields)):
        body, problems = body | more, problems | more_problems
    for name in filter(is_unchanged, LIMIT_TIMES):
        del body[name]  # where clocks are set back, the time that is shown happens twice
    if body["adds_link_id"] is link.adds_link_id:
        del body["adds_link_id"]  # so that it follows a destination that is signed from now on
    if problems:
        return await change_form(link, fields, problems, choices)
    try:
        if field(PREVIEW):
            return await _previewed(link, body, fields, choices)
        changes = parse_changes(body | await tag_changes(choices), CHANGE_FIELDS)
        await store_changes(link, await with_password_hash(changes, link.org_id))
    except InvalidField as error:
        return await change_form(link, fields, {field_of(error): error.rule}, choices)
    return _back(link, "link-changed")


async def _previewed(link: Link, body: Changes, fields: Fields, choices: TagChoices) -> Response:
    """The form as it was sent, with what taps would do if it was saved. Raises InvalidField."""
    changes = await with_password_hash(parse_changes(body, CHANGE_FIELDS), link.org_id)
    changed = apply_changes(link, changes, resources().clock())
    return await change_form(link, fields, {}, choices, await changes_of_link(link, changed))


@dashboard.post("/links/<link_id>/status")
@needs(Permission.LINKS_WRITE)
async def links_status(link_id: LinkId) -> Response:
    """Enable or disable the link; an archived one stays as it is."""
    link = await own_link(link_id)
    is_enabled = field("is_enabled") == "true"
    if link.is_archived:
        return _back(link, "link-archived")
    await store_changes(link, {"is_enabled": is_enabled})
    return _back(link, "link-enabled" if is_enabled else "link-disabled")


@dashboard.post("/links/<link_id>/archive")
@needs(Permission.LINKS_WRITE)
async def links_archive(link_id: LinkId) -> Response:
    """Archive the link, or take it out of the archive."""
    link = await own_link(link_id)
    is_archived = field("is_archived") == "true"
    await store_changes(link, {"is_archived": is_archived})
    return _back(link, "link-archived" if is_archived else "link-unarchived")


async def store_changes(link: Link, changes: Changes, seen: Changes | None = None) -> None:
    """Store the changes. Answers 404 if the link no longer exists.

    Raises LinkChangedMeanwhile if the link no longer has the values in `seen`.
    """
    try:
        change = ChangeLink(link.id, changes, seen=seen or {})
        request = LinkRequest(link.org_id, CreatedBy.PERSON, resources().clock(), change)
        await store_link(resources().database, request, resources().destinations)
    except LinkGone:
        abort(404)


def _back(link: Link, notice: str) -> Response:
    return redirect_with_notice("links_one", notice, link_id=link.id)


async def change_form(
    link: Link,
    fields: Fields,
    problems: Problems,
    choices: TagChoices | None = None,
    changed_taps: list[ChangedTap] | None = None,
) -> Response:
    """The form with these texts in its fields, and what is wrong with some of them.

    Without `choices`, the link's tags are ticked. With `changed_taps`, it shows what taps would do.
    """
    status = 422 if problems else 200
    return await page(
        "links/link_edit.html",
        status,
        link=link,
        short_url=short_url_of(link),
        fields=limits_of(link) | forwarding_of(link) | fields,
        problems=problems,
        tag_choices=choices or await choices_for(link.tag_ids),
        changed_taps=changed_taps,
    )
