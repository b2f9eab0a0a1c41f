"""/links/bulk: change many links at once. One page asks for confirmation, the next shows each result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quart import Response, abort, url_for

from backend.dashboard.frame import form
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.links.bulk_choice import MOST_BULK_LINKS, own_links, sent_ids, ticked_ids
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.link_query import read_link_query
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import RequestError
from backend.domain.ids import LinkId
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ChangeLink, Done, LinkGone, LinkRequest, LinkResult
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.links.lists.listing import TooManyToRank
from backend.storage.links.writing.writes import Submission, write_links
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class Action:
    """A change of many links: its names before and after, and the `changes` of a link's fields.

    `warning` tells what it does to visitors. Archived links stay as they are, unless it is `for_archived`.
    `fields` are further fields of the form, such as the tag.
    """

    name: str
    label: str
    done: str
    already: str
    warning: str
    changes: dict[str, Any]
    for_archived: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


_STATES = {
    action.name: action
    for action in (
        Action(
            "enable", "Enable", "enabled", "were enabled before", "They redirect again.",
            {"is_enabled": True},
        ),
        Action(
            "disable", "Disable", "disabled", "were disabled before", "Visitors of them see an error page.",
            {"is_enabled": False},
        ),
        Action(
            "archive", "Archive", "archived", "were archived before",
            "Visitors of them see an error page. Their paths and their counts are kept.",
            {"is_archived": True}, for_archived=True,
        ),
        Action(
            "unarchive", "Unarchive", "out of the archive", "were not in the archive",
            "They are enabled or disabled as they were before.", {"is_archived": False}, for_archived=True,
        ),
    )
}  # fmt: skip


def chosen_action() -> Action:
    """The action that the current request's form names. Answers 400 if there is no such one."""
    name, tag = form.field("action"), form.field("tag")
    match name:
        case "add_tag":
            words = ("Tag", f"tagged “{tag}”", "were before", f"They get the tag “{tag}”.")
        case "remove_tag":
            words = ("Untag", f"without the tag “{tag}”", "were before", f"They lose the tag “{tag}”.")
        case _:
            return _STATES.get(name) or abort(400)
    return Action(name, *words, {f"{name}s": [tag]}, for_archived=True, fields={"tag": tag})


@dataclass(frozen=True, slots=True)
class NotChanged:
    """A link that could not be changed, and the reason."""

    link_id: LinkId
    name: str
    short_url: str
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """How many links were changed, how many were so before, and which were refused."""

    done: int
    unchanged: int
    refused: Sequence[NotChanged]


@dashboard.post("/links/bulk")
@needs(Permission.LINKS_WRITE)
async def links_bulk() -> Response:
    """The page that asks whether to change the ticked links, with their number and their names."""
    lift_deadline()  # it finds links as the list of links does, and writes nothing
    query, action = await read_link_query(), chosen_action()
    links, problem = list[Link](), "No link is chosen. Tick those that are meant, and try again."
    try:
        links = await own_links(await ticked_ids(query))
    except TooManyToRank:
        problem = f"More than {MOST_BULK_LINKS:,} links can't be changed at once. Filter, and do it in parts."
    if "" in action.fields.values():
        links, problem = [], "No tag is chosen. Write its name beside the button, and try again."
    return await page(
        "links/bulk.html",
        200 if links else 422,
        action=action,
        links=links,
        short_urls={link.id: short_url_of(link) for link in links},
        problem=problem,
        done_path=query.address(url_for("dashboard.links_bulk_done")),
        back=query.address(url_for("dashboard.links")),
    )


@dashboard.post("/links/bulk/done")
@needs(Permission.LINKS_WRITE)
async def links_bulk_done() -> Response:
    """Change the links, and show what became of each. One that is refused does not stop the others."""
    query, action, ids = await read_link_query(), chosen_action(), sent_ids()
    return await page(
        "links/bulk_done.html",
        action=action,
        results=await _carry_out(action, ids),
        done_path=query.address(url_for("dashboard.links_bulk_done")),
        back=query.address(url_for("dashboard.links")),
    )


async def _carry_out(action: Action, ids: Sequence[LinkId]) -> Results:
    links_by_id = {link.id: link for link in await own_links(ids)}
    now = resources().clock()
    requests = [
        LinkRequest(
            org_id(),
            CreatedBy.PERSON,
            now,
            ChangeLink(link_id, action.changes, not_archived=not action.for_archived),
        )
        for link_id in ids
    ]
    results: list[LinkResult] = []
    if requests:
        (results,) = await write_links(resources().database, [Submission(requests)], resources().destinations)
    refused = [
        _refused(link_id, links_by_id.get(link_id), result.error)
        for link_id, result in zip(ids, results, strict=True)
        if result.error
    ]
    unchanged = sum(result.done is Done.UNCHANGED for result in results)
    return Results(len(results) - unchanged - len(refused), unchanged, refused)


def _refused(link_id: LinkId, link: Link | None, error: Exception) -> NotChanged:
    if link is None:
        return NotChanged(link_id, "A link", "", "there is no such link any more")
    why = str(error) if isinstance(error, RequestError) else "it could not be changed"
    if isinstance(error, LinkGone):
        why = "it is archived" if link.is_archived else "there is no such link any more"
    return NotChanged(link_id, link.link_name, short_url_of(link), why)
