"""The lab for the dashboard's links, as they are and as they would be after a change."""

from __future__ import annotations

from dataclasses import dataclass

from backend.dashboard.taps.words import ChangedTap, changed_taps
from backend.domain.accounts.apps import Apps
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import Link
from backend.domain.taps.lab import Lab
from backend.domain.taps.tap import differences
from backend.storage.accounts.apps import find_apps
from backend.storage.links.link_kinds import list_kinds
from backend.storage.links.tap_lab import Known, open_lab, open_plain_lab
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class KindChange:
    """What changes for links of one kind: how many there are, one of them, and its taps."""

    count: int
    example: Link
    taps: list[ChangedTap]


async def lab_of(link: Link) -> Lab:
    """The lab for a link, as it is given."""
    return await open_lab(resources().database, link, _known(link))


async def changes_of_link(link: Link, changed: Link) -> list[ChangedTap]:
    """The taps that lead elsewhere once the link is changed like this."""
    before, after = await lab_of(link), await lab_of(changed)
    return changed_taps(differences([*before.taps()], [*after.taps()]))


async def changes_of_apps(domain: str, new_apps: Apps) -> list[KindChange]:
    """What changes for each kind of the domain's links once it has these apps, without kinds that stay."""
    old_apps = await find_apps(resources().database, domain)
    found = []
    for kind in await list_kinds(resources().database, domain):
        known = _known(kind.example)
        labs = [open_plain_lab(kind.example, known, apps) for apps in (old_apps, new_apps)]
        before, after = ([*lab.taps()] for lab in labs)
        if taps := changed_taps(differences(before, after)):
            found.append(KindChange(kind.count, kind.example, taps))
    return found


def _known(link: Link) -> Known:
    is_blocked = leads_to(link, resources().block_list.current)
    return Known(
        resources().short_url_form,
        resources().clock(),
        is_blocked,
        in_app_browsers=resources().in_app_browsers,
    )
