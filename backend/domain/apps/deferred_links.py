"""Deferred deep links: a click is remembered, so that the app can open the link at its first launch.

When a link sends a phone to a store, it can't pass itself on to the app that is installed there. So the app's
first launch is matched with the click by address, platform and time (decisions, "deferred-deep-links").
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.domain.accounts.apps import Apps
from backend.domain.apps.installs import AppPlatform
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.web.addresses import network_of

# No window is longer, so that keys of addresses can be thrown away.
LONGEST_WINDOW = timedelta(days=1)
# Outcomes that send a visitor to an app which may have to be installed first.
LEADS_TO_APP = frozenset({Outcome.APP_STORE, Outcome.INTENT, Outcome.APP_PAGE})


@dataclass(frozen=True, slots=True)
class Handoff:
    """What is remembered of a click that leads to an app.

    The app, a keyed hash of the visitor's address, and the time after which it is deleted.
    """

    app_id: str
    address_hash: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link that may have led to a first launch.

    Its clicks have one id for each day's key that has hashed the address. All of them are claimed together,
    and only once.
    """

    link_id: LinkId
    ids: tuple[str, ...]


def candidate_id(org_id: OrgId, app_id: str, platform: str, address_hash: str, link_id: LinkId) -> str:
    """The id that all clicks of a day on this link from this address share, for this app."""
    return hashlib.sha256("/".join((org_id, app_id, platform, address_hash, link_id)).encode()).hexdigest()


def hash_address(key: bytes, org_id: OrgId, address: str) -> str | None:
    """A keyed hash of an IP address, different for each organization.

    None if the text is not an IP address.
    """
    network = network_of(address)
    return hmac.new(key, f"{org_id}/{network}".encode(), hashlib.sha256).hexdigest() if network else None


def day_of(moment: datetime) -> str:
    """The UTC day of this time, such as `2026-01-31`. Its key hashes the addresses of that day."""
    return moment.astimezone(UTC).date().isoformat()


def days_of_window(now: datetime) -> list[str]:
    """The days (oldest first) whose keys may have hashed the address of a click that is still remembered."""
    return sorted({day_of(now - LONGEST_WINDOW), day_of(now)})


def app_id_on(apps: Apps, platform: str) -> str | None:
    """The bundle id (iOS) or package name (Android) of a domain's app; None if it has no app there."""
    if platform == AppPlatform.IOS:
        return apps.ios.bundle_id if apps.ios else None
    return apps.android.package if apps.android and platform == AppPlatform.ANDROID else None


def app_of_open(all_apps: Iterable[Apps], platform: AppPlatform, named: str | None) -> str | None:
    """The id of the app that was opened.

    `named` is the app that the request names. Without a name, the app is known only if the organization has
    exactly one on the platform. None if the app is not the organization's or can't be told: it must not get
    the click of another app.
    """
    app_ids = {app_id for apps in all_apps if (app_id := app_id_on(apps, platform))}
    if named:
        return named if named in app_ids else None
    return app_ids.pop() if len(app_ids) == 1 else None


def only_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate if there is exactly one, else None.

    With several, a guess could show a visitor somebody else's link.
    """
    return candidates[0] if len(candidates) == 1 else None
