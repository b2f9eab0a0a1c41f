"""/: the overview.

Who opens it: whoever answers for an organization's marketing, in the morning, with a minute of time. What
they decide by it: whether a campaign gets more money or is stopped, which link to look at, whether something
is broken. So it answers, in this order: is anything wrong; what came in, and is that more or less than
before; where from. A click on any row shows all of it for that row alone, and the address says what is
shown, so that a colleague can be sent the same view.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from quart import Response, abort, request, url_for

from backend.dashboard.analytics.answers import ask, ask_all, chips_of, csv_answer, view_of_request
from backend.dashboard.analytics.events import NAME_CARD, events_query
from backend.dashboard.analytics.figures import course, currencies_of, definitions_of, figures, meanings_of
from backend.dashboard.analytics.marks import marks_of, note_path
from backend.dashboard.analytics.rows_behind import addresses_over_time, rows_behind
from backend.dashboard.analytics.segments import segment_bar
from backend.dashboard.analytics.sorting import SORT, Sorting, orders_of
from backend.dashboard.analytics.tables import CARDS, CHOICES, MEASURES, NAMES, table, table_query
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.analytics.view import COMPARISONS, PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, may_open, needs, org_id
from backend.dashboard.frame.page import page
from backend.doctor.domains.domain_states import DomainStates
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import MOST_LIMIT, Field, Query, QueryField
from backend.domain.finding import Severity
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.webhooks.endpoint import EndpointState
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.origin_refusals import by_origin, list_origin_refusals
from backend.storage.accounts.origins import list_origins
from backend.storage.alerts.alerts import count_not_seen
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks
from backend.storage.links.destinations.broken import list_broken
from backend.storage.links.links import find_links, list_links
from backend.storage.mail.mails import count_failed
from backend.storage.visitors.devices import first_and_last_arrival
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
        *(await _unsent(now) if may_open("mails") else ()),
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


_ROWS_PER_TABLE = 8
_MEASURES = (
    Measure.CLICKS,
    Measure.VISITORS,
    Measure.LEADS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.REVENUE,
)
# What is told beside clicks and sales. Who tells of none sees no figures of it.
_COSTS = (Measure.COST, Measure.RETURN_ON_AD_SPEND)
_BESIDE = (*_COSTS, Measure.EVENTS, Measure.IDENTITIES)
# Of campaigns with costs, rows say what came of the money.
_COLUMNS = (*MEASURES, Measure.RETURN_ON_AD_SPEND)
_CHART = "chart"
# What the page's address chooses besides what every view does.
_CHOICES = CHOICES | {_CHART: (*_MEASURES, *_BESIDE), SORT: orders_of(_COLUMNS)}
_TIME = "time"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that the organization has to set up, and the page where this is done."""

    words: str
    endpoint: str
    is_done: bool


@dashboard.get("/")
@needs(Permission.ANALYTICS_READ)
async def home() -> Response:
    """The overview of the period and the filters in the address."""
    view = await view_of_request(_CHOICES)
    return await page(
        "analytics/overview.html",
        422 if view.errors else 200,
        later=partial(_content, view),
        view=view,
        comparisons=COMPARISONS,
    )


async def _content(view: View) -> dict[str, Any]:
    answered, news, steps = await asyncio.gather(_answers(view), _news(view), _steps())
    series, answers, events = answered
    currency = _sorting(view, series, _COLUMNS).currencies[0]
    shown = (*_MEASURES, *(measure for measure in _BESIDE if _is_any(measure, series)))
    chosen = Measure(view.others.get(_CHART, Measure.CLICKS))
    path = url_for("dashboard.home")
    return {
        "path": path,
        "csv_path": url_for("dashboard.home_csv"),
        "all_path": url_for("dashboard.attribution"),
        "presets": PRESETS,
        "chips": await chips_of(view, path),
        "segments": await segment_bar(view, path),
        "chosen": chosen,
        "figures": [figure for figure in figures(series, series, currency) if figure.measure in shown],
        "course": course(chosen, view, series, currency),
        "addresses": addresses_over_time(chosen, view),
        "marks": await marks_of(series.rows, view.period, view.time_field, view.filters),
        "note_path": note_path(view.filters.get(Field.LINK)),
        "tables": [
            table(card, view, answer, path, _sorting(view, series, answer.query.measures))
            for card, answer in zip(CARDS, answers, strict=True)
        ],
        "events": table(NAME_CARD, view, events, url_for("dashboard.events"), Sorting(Measure.EVENTS)),
        "events_path": url_for("dashboard.events"),
        "events_csv_path": url_for("dashboard.events_csv"),
        "names": NAMES,
        "words": meanings_of(shown),
        "definitions": definitions_of(shown, partial(rows_behind, view=view)),
        "notes": dict.fromkeys(note for answer in (series, *answers) for note in answer.notes),
        "news": news,
        "steps": steps,
    }


async def _answers(view: View) -> tuple[AnalyticsAnswer, list[AnalyticsAnswer], AnalyticsAnswer]:
    """The course of all figures, the tables, whose order follows from it, and events."""
    series = await ask(_series_query(view))
    queries = [_table_query(view, card.field(view), series) for card in CARDS]
    *answers, events = await ask_all([*queries, events_query(view, NAME_CARD, Sorting(Measure.EVENTS))])
    return series, answers, events


def _table_query(view: View, by: QueryField, totals: AnalyticsAnswer) -> Query:
    """The query for a table: of campaigns with the return, where it is known what they cost."""
    has_return = by is Field.CAMPAIGN and _is_any(Measure.COST, totals)
    columns = _COLUMNS if has_return else MEASURES
    return table_query(view, by, _sorting(view, totals, columns), _ROWS_PER_TABLE, columns)


def _is_any(measure: Measure, series: AnalyticsAnswer) -> bool:
    """Whether anything of this kind was told, in this time or in the one that it is compared with."""
    return any(values and values[measure] for values in (series.totals.values, series.totals.previous))


def _sorting(view: View, totals: AnalyticsAnswer, columns: Sequence[Measure]) -> Sorting:
    """The order of a table with these columns: the one in the view's address where it has that column."""
    values = totals.totals.values
    currencies = currencies_of(view, values)
    sorting = Sorting.of(view, values, currencies)
    if sorting.measure in columns:
        return sorting
    others = {name: value for name, value in view.others.items() if name != SORT}
    return Sorting.of(replace(view, others=others), values, currencies)


@dashboard.get("/overview.csv")
@needs(Permission.ANALYTICS_READ)
async def home_csv() -> Response:
    """A table of the overview as a file, with all its rows; `table` names its field, or is `time`."""
    view = await view_of_request(_CHOICES)
    name = request.args.get("table", "")
    fields = {field.value: field for card in CARDS for field in card.fields}
    if name == _TIME:
        query = _series_query(view)
    elif name in fields:
        totals = await ask(view.query(Measure.REVENUE, Measure.COST, compare=view.comparison))
        query = _table_query(view, fields[name], totals)
    else:
        abort(404)
    return await csv_answer(query, f"waylink-{name}")


def _series_query(view: View) -> Query:
    """The course of all figures, and what they come to."""
    measures = (*_MEASURES, *_BESIDE)
    return view.query(*measures, by=Field(view.time_field), compare=view.comparison, limit=MOST_LIMIT)


async def _news(view: View) -> list[News]:
    """What is new of the organization; nothing where a filter shows a part of it."""
    return [] if view.filters else await what_is_new(resources().clock())


async def _steps() -> list[Step]:
    """What is left to do; empty if nothing is."""
    database = resources().database
    steps = [
        Step("A domain for your short URLs", "domains", bool(await list_domains(database, org_id()))),
        Step("A first link", "links", bool(await list_links(database, org_id(), skip=0, limit=1))),
        Step("The sites that may use the SDK", "origins", bool(await list_origins(database, org_id()))),
        Step("The SDK on your site", "install", bool(await first_and_last_arrival(database, org_id()))),
    ]
    return [] if all(step.is_done for step in steps) else [step for step in steps if may_open(step.endpoint)]
