"""The answer for each outcome of the decision."""

from __future__ import annotations

from backend.domain.apps import AndroidApp
from backend.domain.destination import Outcome, intent_url, play_store_url
from backend.domain.web_address import LINK_ID_PARAMETER, web_address
from backend.redirector import pages
from backend.redirector.answer import Answer, redirect
from backend.redirector.link_cache import CachedLink
from backend.redirector.visit import Visit


def answer_for(outcome: Outcome, visit: Visit, entry: CachedLink) -> Answer:
    """What is sent for an outcome of `domain.destination.decide`."""
    apps = entry.apps
    if outcome is Outcome.WEB:
        return redirect(_web(visit, entry))
    if outcome is Outcome.APP_STORE and apps.ios and apps.ios.store_url:
        return redirect(apps.ios.store_url.encode("ascii"))
    if outcome is Outcome.INTENT and apps.android:
        return redirect(_intent(visit, entry, apps.android).encode("ascii"))
    if outcome is Outcome.APP_PAGE and apps.android:
        return pages.app_page(
            visit, entry.link, _intent(visit, entry, apps.android), _web(visit, entry).decode()
        )
    if outcome is Outcome.PREVIEW:
        return pages.preview(entry.link, entry.address.decode())
    return pages.not_found(visit)


def _web(visit: Visit, entry: CachedLink) -> bytes:
    return web_address(entry.link, visit.query).encode("ascii") if visit.query else entry.address


def _intent(visit: Visit, entry: CachedLink, app: AndroidApp) -> str:
    """Opens the short URL in the app; where it is missing, the Play Store, which hands the link's id on."""
    rest = f"{entry.link.domain}/{entry.link.path}" + (f"?{visit.query}" if visit.query else "")
    store = play_store_url(app, {LINK_ID_PARAMETER: entry.link.id})
    return intent_url(app, "https", rest, store)
