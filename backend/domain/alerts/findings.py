"""What alert rules find in what is known of an organization. All functions are pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.hourly import (
    WEEK_HOURS,
    Episode,
    Hit,
    HourlyCounts,
    drop_at,
    episodes,
    is_still_nothing,
    spike_at,
)
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.thresholds import DAYS_BEFORE, FACTOR, LEAST, PERCENT, REQUESTS
from backend.domain.ids import LinkId
from backend.domain.links.links import Link

# How long it is told that a link has expired.
EXPIRED_FOR = timedelta(days=1)
REFUSED_WITHIN = timedelta(days=1)
# Longer than from one look at the rules to the next.
REJECTED_WITHIN = timedelta(hours=1)
# The hours in which episodes are looked for. A longer one goes on by its open alert.
JUDGED_HOURS = WEEK_HOURS + 24


def found_by_hour(rule: AlertRule, counts: HourlyCounts, hours: int = JUDGED_HOURS) -> list[AlertCause]:
    """The spikes or drops of the last so many hours."""
    if rule.kind is AlertKind.SPIKE:
        judge = partial(spike_at, factor=rule.thresholds[FACTOR], least=rule.thresholds[LEAST])
        found = episodes(counts, judge, hours, judges_partial=True)
    else:
        judge = partial(drop_at, least=rule.thresholds[LEAST])
        found = episodes(counts, judge, hours, judges_partial=False, continues=is_still_nothing)
    return [_of_episode(rule, episode) for episode in found]


def lasting_drops(opened: Iterable[Alert], counts: HourlyCounts) -> list[AlertCause]:
    """The open drops that last, also where they began before the hours in which drops are found."""
    at = len(counts.counts) - 1 - counts.is_last_partial
    return [
        AlertCause(alert.cause, alert.period, alert.began_at, alert.figures, alert.link_id)
        for alert in opened
        if is_still_nothing(counts, at, _first_hit(alert))
    ]


def _first_hit(alert: Alert) -> Hit:
    clicks, hours, usual = (float(str(alert.figures[name])) for name in ("clicks", "hours", "usual"))
    return Hit(alert.began_at, int(clicks), int(hours), usual)


def _of_episode(rule: AlertRule, episode: Episode) -> AlertCause:
    hit = episode.first
    return AlertCause(
        cause=rule.kind.value,
        period=hit.at.isoformat(timespec="minutes"),
        began_at=hit.at,
        figures={
            "clicks": hit.clicks,
            "hours": hit.hours,
            "until": hit.at + timedelta(hours=1),
            "usual": round(hit.usual, 1),
        },
        link_id=rule.link_id,
        ended_at=episode.end,
    )


def found_broken(rule: AlertRule, broken: Iterable[tuple[Link, str, str, str, datetime]]) -> list[AlertCause]:
    """The broken destinations: each with its link, field, address, problem, and since when."""
    return [
        AlertCause(
            cause=f"broken/{link.id}/{field}",
            period=since.isoformat(),
            began_at=since,
            figures={"url": url, "problem": problem, "since": since},
            link_id=link.id,
        )
        for link, field, url, problem, since in broken
        if rule.covers(link.id, link.tag_ids)
    ]


def expiry_window(rule: AlertRule, now: datetime) -> tuple[datetime, datetime]:
    """Links with an end after the first of these times, up to the second, are told of."""
    return now - EXPIRED_FOR, now + timedelta(days=rule.thresholds[DAYS_BEFORE])


def found_expiring(rule: AlertRule, links: Iterable[Link], now: datetime) -> list[AlertCause]:
    """The links that are about to expire, or did so in the last day."""
    return [
        finding
        for link in links
        for finding in expiries_of(rule, link)
        if finding.began_at <= now and (finding.ended_at is None or now < finding.ended_at)
    ]


def expiries_of(rule: AlertRule, link: Link) -> list[AlertCause]:
    """What there is to tell of the link's end, and when: that it is near, and that it has come."""
    end = link.limits.expires_at
    if end is None or not link.is_enabled or not rule.covers(link.id, link.tag_ids):
        return []
    told = []
    if days := rule.thresholds[DAYS_BEFORE]:
        told.append(("expires", end - timedelta(days=days), end))
    told.append(("expired", end, end + EXPIRED_FOR))
    return [
        AlertCause(
            cause=f"{what}/{link.id}",
            period=end.isoformat(),
            began_at=begin,
            figures={"expires_at": end, "has_expired": what == "expired"},
            link_id=link.id,
            ended_at=over,
        )
        for what, begin, over in told
    ]


def found_limits(
    rule: AlertRule, links: Iterable[Link], taken: Mapping[LinkId, int], now: datetime
) -> list[AlertCause]:
    """The links of whose clicks nearly all, or all, were taken."""
    found = []
    for link in links:
        most = link.limits.max_clicks
        if most is None or not link.is_enabled or not rule.covers(link.id, link.tag_ids):
            continue
        clicks = min(taken.get(link.id, 0), most)
        if 100 * clicks < rule.thresholds[PERCENT] * most:
            continue
        what = "all" if clicks == most else "nearly"
        found.append(
            AlertCause(
                cause=f"clicks/{what}/{link.id}",
                period=str(most),
                began_at=now,
                figures={"clicks": clicks, "max_clicks": most},
                link_id=link.id,
            )
        )
    return found


def found_rate_limited(rule: AlertRule, refused: Iterable[tuple[str, int, datetime]]) -> list[AlertCause]:
    """The rate limits that refused many requests on a day: each with its name, their number, and the last.

    They concern the whole organization, so rules for a link or a tag find none.
    """
    if rule.link_id or rule.tag_id:
        return []
    return [
        AlertCause(
            cause=f"rate/{limit}",
            period=last.date().isoformat(),
            began_at=datetime(last.year, last.month, last.day, tzinfo=UTC),
            figures={"limit": limit, "requests": requests, "last": last},
        )
        for limit, requests, last in refused
        if requests >= rule.thresholds[REQUESTS]
    ]


def found_refused(
    rule: AlertRule, refusals: Sequence[tuple[str, str, datetime]], now: datetime
) -> list[AlertCause]:
    """The sites of which many requests were refused in the last day.

    `refusals` are the latest ones, the newest first: each with its origin, the reason, and its time.
    """
    by_origin: dict[str, list[tuple[str, datetime]]] = defaultdict(list)
    for origin, reason, at in refusals:
        if now - REFUSED_WITHIN < at <= now:
            by_origin[_printable(origin)].append((reason, at))
    return [
        AlertCause(
            cause=f"site/{origin}",
            period=now.date().isoformat(),
            began_at=requests[-1][1],
            figures={
                "origin": origin,
                "requests": len(requests),
                "reason": requests[0][0],
                "last": requests[0][1],
            },
        )
        for origin, requests in by_origin.items()
        if len(requests) >= rule.thresholds[LEAST]
    ]


def _printable(origin: str) -> str:
    """The origin without what can't be shown: it is stored as a stranger sent it."""
    return "".join(char if char.isprintable() else "?" for char in origin)


def found_rejected(
    rule: AlertRule, rejected: Iterable[tuple[str, str, str, int, datetime]], now: datetime
) -> list[AlertCause]:
    """The reasons for which many calls were rejected today, by the calendar of UTC, or up to an hour ago.

    The last calls of a day come after the day's last look at the rules. Each reason has the kind of call, the
    field, the rule, the number of calls of the day of the last one, and the time of that.
    """
    return [
        AlertCause(
            cause=f"calls/{kind}/{field}/{why}",
            period=last.date().isoformat(),
            began_at=last,
            figures={"call": kind, "field": field, "rule": why, "calls": calls, "last": last},
        )
        for kind, field, why, calls, last in rejected
        if calls >= rule.thresholds[LEAST] and (last.date() == now.date() or now - last < REJECTED_WITHIN)
    ]
