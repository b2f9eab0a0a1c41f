"""Shows where a short URL leads before anybody goes there: the short URL with a `+` behind it."""

from __future__ import annotations

from backend.domain.links.destinations.app_addresses import address_without_app, fallback_address
from backend.domain.links.destinations.compiled_rules import Target
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.destinations.web_address import encoded_address
from backend.domain.links.limits import LinkLimits, Obstacle
from backend.domain.web.client import Client, ClientKind
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer
from backend.redirector.answers.outcomes import web_address_of
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.visit import Visit

# No path of a link can have this character.
SUFFIX = "+"
_BY_APP = frozenset({Outcome.APP_STORE, Outcome.INTENT, Outcome.APP_PAGE})


def where_it_leads(
    visit: Visit, entry: CachedLink, arrival: Arrival, outcome: Outcome, target: Target | None
) -> Answer:
    """The page that says where the short URL leads this visitor, who would get this outcome.

    It tells no more than the redirect does: nothing of a link that leads nowhere now, and of one with a
    password or with a number of clicks not where it leads.
    """
    if outcome is Outcome.HELD:
        return pages.held(visit)
    limits = entry.link.limits
    obstacle = limits.obstacle(arrival.at)
    if outcome is Outcome.NOT_FOUND or obstacle is Obstacle.NOT_STARTED:
        return pages.not_found(visit)
    onward = f"/{entry.link.path}" + (f"?{visit.query}" if visit.query else "")
    if obstacle is Obstacle.EXPIRED:
        return _afterwards(visit, onward, limits)
    if obstacle or limits.max_clicks is not None:
        return pages.where_it_leads(visit, onward, None)
    address = _address(visit, entry, arrival.client, outcome, target)
    return pages.where_it_leads(visit, onward, address, opens_app=outcome in _BY_APP)


def _afterwards(visit: Visit, onward: str, limits: LinkLimits) -> Answer:
    """Where late visitors are sent."""
    if limits.expired_url is None:
        return pages.not_found(visit)
    return pages.where_it_leads(visit, onward, encoded_address(limits.expired_url))


def _address(visit: Visit, entry: CachedLink, client: Client, outcome: Outcome, target: Target | None) -> str:
    """The address to which a browser gets, without the id of a click: without the app, if that would open."""
    link, apps = entry.link, entry.apps
    if target and outcome is Outcome.WEB:
        return web_address_of(visit, entry, target).decode()
    if outcome is Outcome.APP_STORE and apps.ios and apps.ios.store_url:
        return apps.ios.store_url
    in_browser = client.kind is ClientKind.BROWSER
    if in_browser and outcome in _BY_APP and apps.android:
        return address_without_app(link, apps.android, client, visit.web_query)
    if in_browser and (fallback := fallback_address(link, client, visit.web_query)):
        return fallback
    return web_address_of(visit, entry).decode()
