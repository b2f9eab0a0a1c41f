"""What is new: what went wrong lately, so that somebody looks at it before visitors complain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from quart import url_for

from backend.dashboard.accounts.domain_states import DomainStates
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import org_id
from backend.doctor.finding import Severity
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.webhooks.endpoint import EndpointState
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.origin_refusals import by_origin, list_origin_refusals
from backend.storage.analytics.click_windows import ClicksOfLinks
from backend.storage.links.destinations.broken import list_broken
from backend.storage.links.links import find_links
from backend.storage.webhooks.endpoints import list_endpoints
from backend.web.current import of_app, resources

# A link has stopped if nobody clicked it today (UTC) and on so many days before, and at least so many did on
# as many days before those.
_SILENT = 3
_WAS_BUSY = 15
_REFUSED_WITHIN = timedelta(days=7)
_FAILED_FOR = timedelta(minutes=15)
_MOST_EXAMINED, _MOST_OF_A_KIND = 10, 3
_PATIENCE = 0.05  # seconds: what takes longer is shown by the next page
_LINKS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class News:
    """Something to look at. `words` end with what `address` shows, which is named by `subject`."""

    subject: str
    words: str
    address: str
    is_bad: bool = False


async def what_is_new(now: datetime) -> list[News]:
    """Domains with trouble, broken destinations, webhooks that fail, links that stopped, origins refused: the
    worst first."""
    return [
        *await _domains(),
        *await _broken(),
        *await _failing(now),
        *await _stopped(now),
        *await _refused(now),
    ]


async def _domains() -> list[News]:
    names = (await list_domains(resources().database, org_id()))[:_MOST_EXAMINED]
    states = await of_app(DomainStates).of(names, _PATIENCE)
    return [
        News(name, "does not work for visitors", url_for("dashboard.domains_one", domain=name), is_bad=True)
        for name, found in states.items()
        if any(each.severity is Severity.ERROR for each in found)
    ][:_MOST_OF_A_KIND]


async def _broken() -> list[News]:
    """Links whose destinations did not answer well when they were looked at last."""
    return [
        News(
            each.link.link_name,
            f"leads to a page that {each.broken[0].problem}",
            url_for("dashboard.destinations_broken"),
            is_bad=True,
        )
        for each in await list_broken(resources().database, org_id(), _MOST_OF_A_KIND)
    ]


async def _failing(now: datetime) -> list[News]:
    """Webhooks to which nothing has come through for a while; every page tells of those that sleep."""
    return [
        News(
            each.url,
            f"takes nothing since {each.failing_since.astimezone(zone_of_browser()):%-d %b, %H:%M}",
            url_for("dashboard.webhooks_one", webhook_id=each.id),
            is_bad=True,
        )
        for each in await list_endpoints(resources().database, org_id())
        if each.state is EndpointState.FAILING
        and each.failing_since
        and each.failing_since < now - _FAILED_FOR
    ][:_MOST_OF_A_KIND]


async def _stopped(now: datetime) -> list[News]:
    """Links that are enabled and were clicked, and suddenly are not."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    silent, before = today - timedelta(days=_SILENT), today - timedelta(days=2 * _SILENT)
    questions = [ClicksOfLinks(silent), ClicksOfLinks(before, silent)]
    now_clicked, earlier = await resources().analytics.ask_all(org_id(), questions)
    stopping = {
        link_id: clicks
        for link_id, clicks in earlier.items()
        if clicks >= _WAS_BUSY and not now_clicked.get(link_id)
    }
    stopped = await _most_clicked_enabled(stopping)
    return [
        News(
            link.link_name,
            f"has had no click for {_SILENT} days, after {clicks:,} in the {_SILENT} days before",
            url_for("dashboard.links_one", link_id=link.id),
        )
        for clicks, link in stopped
    ]


async def _most_clicked_enabled(clicks: Mapping[LinkId, int]) -> list[tuple[int, Link]]:
    """Those of these links that are enabled and had most clicks. Only a few links are read."""
    ids = sorted(clicks, key=lambda each: (-clicks[each], each))
    found: list[tuple[int, Link]] = []
    for start in range(0, len(ids), _LINKS_AT_ONCE):
        some = ids[start : start + _LINKS_AT_ONCE]
        links = await find_links(resources().database, some, org_id())
        found += [(clicks[each], links[each]) for each in some if each in links and links[each].is_enabled]
        if len(found) >= _MOST_OF_A_KIND:
            break
    return found[:_MOST_OF_A_KIND]


async def _refused(now: datetime) -> list[News]:
    """Sites whose calls of the SDK were refused, since nobody has allowed them."""
    refused = by_origin(await list_origin_refusals(resources().database, org_id()))
    return [
        News(
            each.origin or "A site without an origin",
            f"sent {each.requests:,} refused {'call' if each.requests == 1 else 'calls'}, last on "
            f"{each.last.at:%-d %b}: it is no allowed origin",
            url_for("dashboard.origins"),
        )
        for each in refused
        if each.last.at > now - _REFUSED_WITHIN
    ][:_MOST_OF_A_KIND]
