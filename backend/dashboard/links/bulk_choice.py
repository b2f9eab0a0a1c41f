"""What is to be done to many links at once, and to which, as a form says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quart import abort

from backend.current import resources
from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field, form
from backend.dashboard.links.asked_links import AskedLinks
from backend.domain.ids import LinkId
from backend.domain.links import Link
from backend.storage.link_listing import matching_ids
from backend.storage.links import find_links

MOST_AT_ONCE = 1_000
# The field of a link that is ticked begins with this, and ends with its id.
TICK = "link-"
# What is ticked for all links of the list, on every page.
ALL = "all"


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is done to links: how it is called before and after, and which changes it makes.

    `warning` says what visitors notice. Archived links are left as they are, unless it is `for_archived`.
    """

    name: str
    label: str
    done: str
    already: str
    warning: str
    changes: dict[str, Any]
    for_archived: bool = False


_ACTIONS = (
    Action(
        "enable", "Enable", "enabled", "were enabled before", "They redirect again.", {"is_enabled": True}
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
)  # fmt: skip
ACTIONS = {each.name: each for each in _ACTIONS}


def chosen_action() -> Action:
    """The action that the form names. Answers 400 if there is no such one."""
    return ACTIONS.get(field("action")) or abort(400)


async def ticked_ids(asked: AskedLinks) -> list[LinkId]:
    """The ids of the links that are ticked, or of all that the address asks for. Raises TooManyToRank."""
    if field(ALL):
        if asked.errors or not asked.can_match:
            return []
        now = resources().clock()
        return await matching_ids(resources().database, org_id(), asked.wanted, now, MOST_AT_ONCE)
    return [LinkId(name.removeprefix(TICK)) for name in form() if name.startswith(TICK)]


def sent_ids() -> list[LinkId]:
    """The ids in the form's field `links`, each once. Answers 400 if they are more than can be."""
    ids = list(dict.fromkeys(map(LinkId, field("links").split())))
    if len(ids) > MOST_AT_ONCE:
        abort(400)
    return ids


async def own_links(ids: Sequence[LinkId]) -> list[Link]:
    """Those of these links that the organization has, by their names."""
    found = await find_links(resources().database, ids, org_id())
    return sorted(found.values(), key=lambda each: (each.link_name.casefold(), each.id))
