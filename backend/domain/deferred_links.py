"""Deferred deep links: what a click leaves behind, so that the app gets the link at its first launch.

A phone that follows a link to a store can't hand the link to the app that is installed there. The app's
first launch is matched with the click by address, platform and time (decisions, "deferred-deep-links").
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.domain.addresses import network_of
from backend.domain.apps import Apps
from backend.domain.destination import Outcome
from backend.domain.installs import Platform

# No window is longer, so that keys of addresses can be thrown away.
LONGEST_WINDOW = timedelta(days=1)
# Outcomes that send a visitor to an app which may have to be installed first.
LEADS_TO_APP = frozenset({Outcome.APP_STORE, Outcome.INTENT, Outcome.APP_PAGE})


@dataclass(frozen=True, slots=True)
class Handoff:
    """What a click on the way to an app leaves: which app, a keyed hash of the address, and until when."""

    app_id: str
    address_hash: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link that may have led to a first launch; `id` is claimed once."""

    id: str
    link_id: str


def hash_address(key: bytes, org_id: str, address: str) -> str | None:
    """A keyed hash of an address, of no use in another organization; None for what is no address."""
    network = network_of(address)
    return hmac.new(key, f"{org_id}/{network}".encode(), hashlib.sha256).hexdigest() if network else None


def day_of(moment: datetime) -> str:
    """The name of the day, in UTC, whose key hashes an address at that moment."""
    return moment.astimezone(UTC).date().isoformat()


def days_of_window(now: datetime) -> list[str]:
    """The days whose keys may have hashed the address of a click that has not expired."""
    return sorted({day_of(now - LONGEST_WINDOW), day_of(now)})


def app_id_on(apps: Apps, platform: str) -> str | None:
    """What the domain's app on a platform is called: its bundle id or package."""
    if platform == Platform.IOS:
        return apps.ios.bundle_id if apps.ios else None
    return apps.android.package if apps.android and platform == Platform.ANDROID else None


def app_of_open(all_apps: Iterable[Apps], platform: Platform, named: str | None) -> str | None:
    """The app that was opened: the one it names, or else the only one that its organization has there.

    None where neither tells: another app's click is not this app's.
    """
    known = {app_id for apps in all_apps if (app_id := app_id_on(apps, platform))}
    if named:
        return named if named in known else None
    return known.pop() if len(known) == 1 else None


def only_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate, if it is the only one: a guess among several could show one visitor another's link."""
    return candidates[0] if len(candidates) == 1 else None
