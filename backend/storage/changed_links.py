"""Stores changes of an organization's link after checking them."""

from __future__ import annotations

from datetime import datetime

from backend.domain.link_input import Changes, apply_changes
from backend.domain.links import Link
from backend.storage.links import change_link
from backend.storage.loops import may_loop
from backend.storage.mongo import Database
from backend.storage.new_links import refuse_loop


class LinkGone(LookupError):
    """The link that is to be changed does not exist any more."""


async def store_changes(database: Database, link: Link, changes: Changes, now: datetime) -> None:
    """Store all these changes of the link, with `now` as its modification time.

    If they change nothing, nothing is stored. Raises InvalidField if the link would lead back to its own
    short URL, and LinkGone if it does not exist any more.
    """
    changed = apply_changes(link, changes)
    if may_loop(changes):
        await refuse_loop(database, changed)
    if changed == link:
        return
    if not await change_link(database, link.id, link.org_id, changes, now.replace(microsecond=0)):
        raise LinkGone(link.id)
