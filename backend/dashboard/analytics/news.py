"""What is new: what went wrong lately, so that somebody looks at it before visitors complain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from quart import url_for

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import may_open, org_id
from backend.doctor.domains.domain_states import DomainStates
from backend.domain.finding import Severity
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.webhooks.endpoint import EndpointState
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.origin_refusals import by_origin, list_origin_refusals
from backend.storage.alerts.alerts import count_not_seen
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks
from backend.storage.links.destinations.broken import list_broken
from backend.storage.links.links import find_links
from backend.storage.mail.mails import count_failed
from backend.storage.webhooks.endpoints import list_endpoints
from backend.web.current import of_app, resources

# A link has stopped if nobody clicked it today (UTC) and on so many days before, and at least so many did on
# as many days before those.
_SILENT_DAYS = 3
_FEWEST_CLICKS_BEFORE = 15
_REFUSED_WITHIN = timedelta(days=7)
_UNSENT_WITHIN = timedelta(days=7)
_FAILED_FOR = timedelta(minutes=15)
_MOST_OF_A_KIND = 3
_EXAMINATION_SECONDS = 0.05  # what takes longer is shown by the next page
_LINKS_PER_READ = 100


@dataclass(frozen=True, slots=True)
class News:
    """Something to look at. `words` end with what `address` shows, which is named by `subject`."""

    subject: str
    words: str
    address: str
    is_bad: bool = False


async def what_is_new(now: datetime) -> list[News]:
    """Domains with trouble, broken destinations, alerts that nobody has seen, webhooks that fail, mails that
    were not sent, links that stopped, origins refused: the worst first, of what the user may look at."""
    return [
        *(await _domains() if may_open("domains_one") else ()),
        *await _broken(),
        *await _alerts(),
        *(await _failing(now) if may_open("webhooks_one") else ()),
        *await _unsent(now),
        *await _stopped(now),
        *(await _refused(now) if may_open("origins") else ()),
    ]


async def _domains() -> list[News]:
    names = await list_domains(resources().database, org_id())
    states = await of_app(DomainStates).of(org_id(), names, _EXAMINATION_SECONDS)
    return [
        News(name, "does not work for visitors", url_for("dashboard.domains_one", domain=name), is_bad=True)
        for name, kept in states.items()
        if any(finding.severity is Severity.ERROR for finding in kept.findings)
    ][:_MOST_OF_A_KIND]


async def _broken() -> list[News]:
    """Links whose destinations did not answer well when they were looked at last."""
    return [
        News(
            broken.link.link_name,
            f"leads to a page that {broken.broken[0].problem}",
            url_for("dashboard.destinations_broken"),
            is_bad=True,
        )
        for broken in await list_broken(resources().database, org_id(), _MOST_OF_A_KIND)
    ]


async def _alerts() -> list[News]:
    """How many alerts nobody has marked as seen."""
    count = await count_not_seen(resources().database, org_id())
    if not count:
        return []
    words = "was told and not yet seen" if count == 1 else "were told and not yet seen"
    return [News(f"{count:,} {'alert' if count == 1 else 'alerts'}", words, url_for("dashboard.alerts"))]


async def _failing(now: datetime) -> list[News]:
    """Webhooks to which nothing has come through for a while; every page tells of those that sleep."""
    return [
        News(
            endpoint.url,
            f"takes nothing since {endpoint.failing_since.astimezone(zone_of_browser()):%-d %b, %H:%M}",
            url_for("dashboard.webhooks_one", webhook_id=endpoint.id),
            is_bad=True,
        )
        for endpoint in await list_endpoints(resources().database, org_id())
        if endpoint.state is EndpointState.FAILING
        and endpoint.failing_since
        and endpoint.failing_since < now - _FAILED_FOR
    ][:_MOST_OF_A_KIND]


async def _unsent(now: datetime) -> list[News]:
    """Mails that were refused or given up, or have waited for a while for a mail server that takes them."""
    since, until = now - _UNSENT_WITHIN, now - _FAILED_FOR
    failed = await count_failed(resources().database, org_id(), since, until)
    if not failed:
        return []
    words = f"{'was' if failed == 1 else 'were'} not sent in the last {_UNSENT_WITHIN.days} days"
    subject = f"{failed:,} {'mail' if failed == 1 else 'mails'}"
    return [News(subject, words, f"{url_for('dashboard.mails')}#failed", is_bad=True)]


async def _stopped(now: datetime) -> list[News]:
    """Links that are enabled and were clicked, and suddenly are not."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    silent, before = today - timedelta(days=_SILENT_DAYS), today - timedelta(days=2 * _SILENT_DAYS)
    questions = [ClicksOfLinks(silent), ClicksOfLinks(before, silent)]
    now_clicked, earlier = await resources().analytics.ask_all(org_id(), questions)
    stopping = {
        link_id: clicks
        for link_id, clicks in earlier.items()
        if clicks >= _FEWEST_CLICKS_BEFORE and not now_clicked.get(link_id)
    }
    stopped = await _most_clicked_enabled(stopping)
    return [
        News(
            link.link_name,
            f"has had no click for {_SILENT_DAYS} days, after {clicks:,} in the {_SILENT_DAYS} days before",
            url_for("dashboard.links_one", link_id=link.id),
        )
        for clicks, link in stopped
    ]


async def _most_clicked_enabled(clicks: Mapping[LinkId, int]) -> list[tuple[int, Link]]:
    """Those of these links that are enabled and had most clicks. Only a few links are read."""
    ids = sorted(clicks, key=lambda link_id: (-clicks[link_id], link_id))
    clicked: list[tuple[int, Link]] = []
    for start in range(0, len(ids), _LINKS_PER_READ):
        some_ids = ids[start : start + _LINKS_PER_READ]
        links = await find_links(resources().database, some_ids, org_id())
        clicked += [
            (clicks[link_id], links[link_id])
            for link_id in some_ids
            if link_id in links and links[link_id].is_enabled
        ]
        if len(clicked) >= _MOST_OF_A_KIND:
            break
    return clicked[:_MOST_OF_A_KIND]


async def _refused(now: datetime) -> list[News]:
    """Sites whose calls of the SDK were refused, since nobody has allowed them."""
    refused = by_origin(await list_origin_refusals(resources().database, org_id()))
    return [
        News(
            refusals.origin or "A site without an origin",
            f"sent {refusals.requests:,} refused {'call' if refusals.requests == 1 else 'calls'}, last on "
            f"{refusals.last.at:%-d %b}: it is no allowed origin",
            url_for("dashboard.origins"),
        )
        for refusals in refused
        if refusals.last.at > now - _REFUSED_WITHIN
    ][:_MOST_OF_A_KIND]
