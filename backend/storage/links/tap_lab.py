"""Puts together what decides what a tap on a stored link does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from backend.concurrency.side_threads import SHORT_WORK
from backend.domain.accounts.apps import Apps
from backend.domain.links.destinations.destination import leaves_to_app
from backend.domain.links.destinations.forwarding import as_followed
from backend.domain.links.links import Link
from backend.domain.taps.apple_file import AppleFile, apple_file_content, parse_apple_file
from backend.domain.taps.devices import CachedFile
from backend.domain.taps.google_file import GoogleFile, google_file_content, parse_google_file
from backend.domain.taps.in_app_browsers import InAppBrowsers, packaged_in_app_browsers
from backend.domain.taps.lab import Lab
from backend.domain.taps.manifest import IntentFilter
from backend.domain.taps.path_rules import Listing, PathRules
from backend.domain.web.client import Platform
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.mongo import Database
from backend.storage.links.path_rules import find_path_rules

_ANY = PathRules(Listing.BROWSER_LINKS)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides the database: the service's form of short URLs, whether its operator blocks where
    the link leads, and what whoever asks has of phones: association files, the app's intent filters, and the
    address that is tapped, if it is not the short URL."""

    form: ShortUrlForm
    now: datetime
    is_blocked: bool = False
    apple_file: AppleFile | None = None
    google_file: GoogleFile | None = None
    filters: Sequence[IntentFilter] | None = None
    tapped: str | None = None
    in_app_browsers: InAppBrowsers = field(default_factory=packaged_in_app_browsers)


async def open_lab(database: Database, link: Link, known: Known) -> Lab:
    """The lab for a link as it is given, which need not be as it is stored.

    The current files are as the domain answers them with such a link, unless `known` has them.
    """
    apps = await find_apps(database, link.domain)
    ios = await find_path_rules(database, link.domain, Platform.IOS) if apps.ios else _ANY
    android = await find_path_rules(database, link.domain, Platform.ANDROID) if apps.android else _ANY
    return await SHORT_WORK.run(link.domain, lambda: _lab(link, known, apps, ios, android))


def open_plain_lab(link: Link, known: Known, apps: Apps) -> Lab:
    """The lab for a link whose domain has these apps, and files with room for all links."""
    return _lab(link, known, apps, _ANY, _ANY)


def _lab(link: Link, known: Known, apps: Apps, ios: PathRules, android: PathRules) -> Lab:
    apple_files, google_files = {}, {}
    # Through the JSON that the domain answers, as phones read it.
    if apps.ios:
        for age, rules in _ages(link, Platform.IOS, ios).items():
            apple_files[age] = parse_apple_file(apple_file_content(apps.ios, rules))
    if apps.android:
        for age, rules in _ages(link, Platform.ANDROID, android).items():
            google_files[age] = parse_google_file(google_file_content(apps.android, rules))
    if known.apple_file:
        apple_files[CachedFile.CURRENT] = known.apple_file
    if known.google_file:
        google_files[CachedFile.CURRENT] = known.google_file
    return Lab(
        link=as_followed(link),
        apps=apps,
        short_url=known.form.write(link.domain, link.path),
        now=known.now,
        apple_files=apple_files,
        google_files=google_files,
        filters=known.filters,
        is_blocked=known.is_blocked,
        tapped=known.tapped,
        in_app_browsers=known.in_app_browsers,
    )


def _ages(link: Link, platform: Platform, rules: PathRules) -> dict[CachedFile, PathRules]:
    return {
        CachedFile.CURRENT: rules.with_link(link.path, opens_app=leaves_to_app(link, platform)),
        CachedFile.BEFORE: rules.without(link.path),
    }
