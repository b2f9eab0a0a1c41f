"""Whether the system of a phone opens the app for a link itself, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.accounts.apps import AndroidApp, Apps
from backend.domain.taps.apple_file import AppleFile
from backend.domain.taps.google_file import GoogleFile
from backend.domain.taps.manifest import IntentFilter


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """Whether the app opens, and why, in sentences."""

    opens: bool
    why: tuple[str, ...]


def ask_ios(apps: Apps, file: AppleFile | None, url: str) -> SystemAnswer:
    """What iOS does with this address, by the file that it has of the domain; None if it has none."""
    if apps.ios is None:
        return _no("No iOS app is set for the domain.")
    if file is None:
        return _no("The phone has no apple-app-site-association of the domain.")
    app_id = apps.ios.app_id
    if app_id not in file.app_ids:
        return _no(f"apple-app-site-association does not name the app {app_id}.")
    found = file.decide(app_id, url)
    if found is None:
        return _no("No component of apple-app-site-association matches the link.")
    verb = "excludes the link" if found.is_excluding else "leaves the link to the app"
    return SystemAnswer(not found.is_excluding, (f"apple-app-site-association {verb}, by “{found.path}”.",))


def ask_android(
    apps: Apps,
    file: GoogleFile | None,
    filters: Sequence[IntentFilter] | None,
    url: str,
    *,
    rules_count: bool,
) -> SystemAnswer:
    """What Android does with this address, by the file that it has read of the domain; None if it read none.

    `filters` are those of the app's manifest; None if it is not known. `rules_count` says whether this
    Android follows the file's rules for paths.
    """
    if apps.android is None:
        return _no("No Android app is set for the domain.")
    if unverified := _why_not_verified(apps.android, file, filters, url):
        return _no(unverified)
    verified = "assetlinks.json verifies the domain for the app, " + (
        "whose manifest is taken to have all paths." if filters is None else "whose manifest takes the link."
    )
    statement = file.about(apps.android) if file else None
    if not rules_count or statement is None:
        return SystemAnswer(True, (verified, "Android 14 and older read no rules for paths."))
    if statement.opens(url):
        return SystemAnswer(True, (verified, "The rules for paths in it leave the link to the app."))
    return _no("The rules for paths in assetlinks.json keep the link in the browser.")


def _why_not_verified(
    app: AndroidApp, file: GoogleFile | None, filters: Sequence[IntentFilter] | None, url: str
) -> str | None:
    if file is None:
        return "The phone could not read the domain’s assetlinks.json, so it has not verified the domain."
    if file.about(app) is None:
        return f"assetlinks.json does not name {app.package} with its certificate."
    if filters is None or any(
        intent_filter.is_verified and intent_filter.matches(url) for intent_filter in filters
    ):
        return None
    return "No verified intent filter of the app’s manifest takes the link."


def _no(reason: str) -> SystemAnswer:
    return SystemAnswer(False, (reason,))
