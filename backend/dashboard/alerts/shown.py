"""Alerts, rules, and what rules would have told of, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from quart import url_for

from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.frame.blueprint import may_open
from backend.domain.alerts.alert import Alert
from backend.domain.alerts.finding import AlertCause, Preview
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.words import KIND_NAMES, Reader, why
from backend.domain.fields.time_zones import known_zone, zone_words
from backend.domain.ids import AlertRuleId, LinkId, TagId
from backend.domain.links.links import Link

# What each kind tells, as a sentence, in the order in which they are offered.
MEANINGS: Mapping[AlertKind, str] = {
    AlertKind.SPIKE: "An hour has many more clicks than the same hours of the weeks before.",
    AlertKind.DROP: "Next to no clicks come where each of the weeks before had enough.",
    AlertKind.BROKEN_DESTINATION: "The page that a link leads to does not answer any more.",
    AlertKind.LINK_EXPIRY: "A link is about to expire, and when it has.",
    AlertKind.LIMITS: "Nearly all clicks of a link are taken, or a rate limit refuses many requests.",
    AlertKind.REFUSED_SITES: "Requests from a site that is none of your allowed origins are refused.",
    AlertKind.REJECTED_CALLS: "Calls that tell of leads, sales or events are rejected for one reason.",
}
# Where it is mended: the endpoint, and what the page is for. Of the others on the page of the link.
_MENDED = {
    AlertKind.BROKEN_DESTINATION: ("destinations_broken", "Broken destinations"),
    AlertKind.REFUSED_SITES: ("origins", "Allow the origin"),
    AlertKind.REJECTED_CALLS: ("install", "Rejected calls"),
}
_ABOUT_LINK = {AlertKind.LINK_EXPIRY: "Change its end", AlertKind.LIMITS: "Change its limit"}


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """An alert in words. `mend` is where it can be looked at or mended, and `mend_words` name that."""

    kind: str
    why: str
    rule: str
    rule_id: AlertRuleId | None
    link: Link | None
    fired: str
    ended: str
    is_sent: bool
    is_seen: bool
    mend: str
    mend_words: str


@dataclass(frozen=True, slots=True)
class ShownPreview:
    """What a rule would have sent. `count` says how many alerts; "" where the figures can't be had now."""

    count: str
    note: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A rule in words: what it tells of, and whom."""

    rule: AlertRule
    kind: str
    about: str
    link: Link | None
    told: str


def shown_alert(
    alert: Alert, rules: Mapping[AlertRuleId, AlertRule], links: Mapping[LinkId, Link], zone: ZoneInfo
) -> ShownAlert:
    """The alert in words. `rules` are those that there still are."""
    rule, link = rules.get(alert.rule_id), links.get(alert.link_id) if alert.link_id else None
    mend, mend_words = _mend(alert, link)
    return ShownAlert(
        kind=KIND_NAMES[alert.kind],
        why=why(alert.kind, alert.figures, Reader(zone=zone)),
        rule=rule.name if rule else "A rule that was deleted",
        rule_id=rule.id if rule else None,
        link=link,
        fired=time_in_words(alert.fired_at, zone),
        ended=time_in_words(alert.ended_at, zone) if alert.ended_at else "",
        is_sent=alert.is_sent,
        is_seen=alert.seen_at is not None,
        mend=mend,
        mend_words=mend_words,
    )


def shown_rule(rule: AlertRule, tags: Mapping[TagId, str], links: Mapping[LinkId, Link]) -> ShownRule:
    """The rule in words."""
    return ShownRule(
        rule=rule,
        kind=KIND_NAMES[rule.kind],
        about=_about(rule, tags, links),
        link=links.get(rule.link_id) if rule.link_id else None,
        told=told_words(rule),
    )


def shown_preview(
    rule: AlertRule, preview: Preview, links: Mapping[LinkId, Link], zone: ZoneInfo
) -> ShownPreview:
    """What the rule would have sent."""
    return ShownPreview(
        count_words(preview),
        preview.note,
        [_line(rule, finding, links, zone) for finding in preview.findings],
    )


def count_words(preview: Preview) -> str:
    """How many alerts the rule would have sent."""
    count = len(preview.findings)
    return f"{count:,} {'alert' if count == 1 else 'alerts'}"


def told_words(rule: AlertRule) -> str:
    """Whom the rule tells, besides the page."""
    people = f"{len(rule.mail_to)} by mail" if rule.mail_to else ""
    if rule.mail_to and not known_zone(rule.timezone):
        people += f", in {zone_words(rule.timezone)}"
    ways = [way for way in ("webhooks" if rule.webhooks else "", people) if way]
    words = " and ".join(ways) or "only this page"
    return words[:1].upper() + words[1:]


def link_ids_of(alerts: Collection[Alert], rules: Collection[AlertRule]) -> set[LinkId]:
    """The links that these are about."""
    named = [*(alert.link_id for alert in alerts), *(rule.link_id for rule in rules)]
    return {link_id for link_id in named if link_id}


def _line(
    rule: AlertRule, finding: AlertCause, links: Mapping[LinkId, Link], zone: ZoneInfo
) -> tuple[str, str]:
    """The name of the finding's link, "" for none, and why it would have been told."""
    link = links.get(finding.link_id) if finding.link_id and finding.link_id != rule.link_id else None
    return link.link_name if link else "", why(rule.kind, finding.figures, Reader(zone=zone))


def _about(rule: AlertRule, tags: Mapping[TagId, str], links: Mapping[LinkId, Link]) -> str:
    if rule.link_id:
        return links[rule.link_id].link_name if rule.link_id in links else "A link that was deleted"
    if rule.tag_id:
        name = tags.get(rule.tag_id)
        return f"Links with the tag {name}" if name else "A tag that was deleted"
    return "The whole organization"


def _mend(alert: Alert, link: Link | None) -> tuple[str, str]:
    if alert.kind in _MENDED and may_open(_MENDED[alert.kind][0]):
        endpoint, words = _MENDED[alert.kind]
        return url_for(f"dashboard.{endpoint}"), words
    if link and alert.kind in _ABOUT_LINK and may_open("links_edit"):
        return url_for("dashboard.links_edit", link_id=link.id), _ABOUT_LINK[alert.kind]
    if link:
        return url_for("dashboard.links_one", link_id=link.id), "Look at the link"
    if alert.kind is AlertKind.LIMITS and may_open("install"):
        return url_for("dashboard.install"), "What limits refused"
    return url_for("dashboard.home"), "Look at the overview"
