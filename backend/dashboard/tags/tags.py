"""/tags: the tags of the organization."""

from __future__ import annotations

from functools import partial
from typing import Any

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.dashboard.tags.item_form import Fields, Problems, parse, sent, storing
from backend.domain.accounts.permissions import Permission
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Rule
from backend.domain.ids import TagId
from backend.domain.links.tags import PALETTE, Tag, TagColor
from backend.storage.links.tags import (
    change_tag,
    count_tagged_links,
    create_tag,
    delete_tag,
    find_tag_by_id,
    list_tags,
)
from backend.web.current import resources

RULES: dict[str, Rule[Any]] = {"name": ItemName(), "color": TagColor()}
_NEW_FIELDS: Fields = {"name": "", "color": PALETTE["blue"]}
_read = partial(parse, rules=RULES, required=frozenset(RULES))
_storing = partial(storing, what="tag")


async def _stored(tag_id: TagId) -> Fields:
    tag = await _own_tag(tag_id)
    return {"name": tag.name, "color": tag.color}


@dashboard.get("/tags")
@needs(Permission.LINKS_READ)
async def tags() -> Response:
    """All tags, each with how many links have it, and a form for a new one."""
    return await _page(_NEW_FIELDS, {})


@dashboard.post("/tags")
@needs(Permission.LINKS_WRITE)
@once
async def tags_add() -> Response:
    """Make a tag."""
    fields, problems = sent(RULES), Problems()
    values = _read(fields, problems=problems)
    if not problems:
        with _storing(problems):
            await create_tag(resources().database, org_id(), **values, now=resources().clock())
    return await _page(fields, problems) if problems else redirect_with_notice("tags", "tag-made")


@dashboard.get("/tags/<tag_id>")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def tags_edit(tag_id: TagId) -> Response:
    """The form with the tag's name and colour."""
    return await _form(await _own_tag(tag_id), dict(stored_fields()), {})


@dashboard.post("/tags/<tag_id>")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def tags_change(tag_id: TagId) -> Response:
    """Rename the tag, or give it another colour, on all links."""
    tag, fields, problems = await _own_tag(tag_id), sent(RULES), Problems()
    values = _read(fields, problems=problems)
    if not problems:
        new_name, color = values["name"], values["color"]
        with _storing(problems):
            await change_tag(resources().database, org_id(), tag.name, new_name=new_name, color=color)
    return await _form(tag, fields, problems) if problems else redirect_with_notice("tags", "tag-changed")


@dashboard.post("/tags/<tag_id>/delete")
@needs(Permission.LINKS_WRITE)
async def tags_delete(tag_id: TagId) -> Response:
    """Delete the tag, which takes it off all links."""
    tag = await _own_tag(tag_id)
    await delete_tag(resources().database, org_id(), tag.name)
    return redirect_with_notice("tags", "tag-deleted")


async def _own_tag(tag_id: TagId) -> Tag:
    tag = await find_tag_by_id(resources().database, org_id(), tag_id)
    return tag or abort(404)


async def _page(fields: Fields, problems: Problems) -> Response:
    status = 422 if problems else 200
    return await page("tags/tags.html", status, later=_tags, fields=fields, problems=problems)


async def _tags() -> dict[str, Any]:
    database = resources().database
    return {
        "tags": await list_tags(database, org_id()),
        "counts": await count_tagged_links(database, org_id()),
    }


async def _form(tag: Tag, fields: Fields, problems: Problems) -> Response:
    status = 422 if problems else 200
    return await page("tags/tag.html", status, tag=tag, fields=fields, problems=problems)
