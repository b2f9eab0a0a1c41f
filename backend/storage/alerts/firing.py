"""Fires alerts: stores what a rule found and has not told of, together with all that tells of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from backend.domain.accounts.organizations import Organization
from backend.domain.alerts.alert import MOST_SENT_A_DAY, Alert, AlertNews, alert_id, alert_of
from backend.domain.alerts.facts import alert_fact
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import TELLS_END, AlertRule
from backend.domain.ids import LinkId
from backend.domain.mail.mail import Mail
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.users import list_users
from backend.storage.alerts import alerts
from backend.storage.driver.mongo import ClientSession, Database, StorageError, in_transaction, is_duplicate
from backend.storage.links.links import find_short_urls
from backend.storage.mail import mails
from backend.storage.outbox import entries
from backend.storage.outbox.entries import REMOVAL_FACTS_KEPT

_DAY = timedelta(days=1)


class _ToldAlready(Exception):
    """Another process has told of it."""


# Makes the mail to an address, with the short URLs of links.
MailMaker = Callable[[Organization, AlertNews, str, Mapping[LinkId, str]], Mail]


@dataclass(frozen=True, slots=True)
class AlertChannels:
    """What alerts need to be sent. Without `make_mail` there is no mail server, and no mail is queued."""

    url_form: ShortUrlForm
    make_mail: MailMaker | None = None


async def tell(
    database: Database, channels: AlertChannels, rule: AlertRule, found: Sequence[AlertCause], now: datetime
) -> list[Alert]:
    """Fire an alert for each cause that holds and that the rule has not told of; end those that are over.

    Returns the alerts that were fired. None are fired where another process does the same.
    """
    holding = {finding.cause: finding for finding in found if finding.ended_at is None}
    opened = await alerts.open_alerts(database, rule.id)
    ended = [
        replace(alert, ended_at=_end(alert, found, now)) for alert in opened if alert.cause not in holding
    ]
    told = {alert.cause for alert in opened}
    new = {
        alert_id(rule.id, cause, finding.period): finding
        for cause, finding in holding.items()
        if cause not in told
    }
    known = await alerts.known_ids(database, rule.org_id, new) if new else set()
    fresh = [finding for own_id, finding in new.items() if own_id not in known]
    former = [finding for own_id, finding in new.items() if own_id in known]
    fresh += await _to_tell_again(database, rule, former, now)
    fired = await _with_limit(database, rule, fresh, now)
    if not fired and not ended:
        return []
    changed = AlertNews(rule, tuple(fired), tuple(ended))
    return fired if await _store(database, channels, changed, now) else []


async def _to_tell_again(
    database: Database, rule: AlertRule, former: Sequence[AlertCause], now: datetime
) -> list[AlertCause]:
    """Those of which nothing was told since the rule was switched off, as causes of another period."""
    if not former:
        return []
    again = await alerts.unwatched_causes(database, rule.id, [finding.cause for finding in former])
    return [
        replace(finding, period=f"{finding.period}/{now.isoformat()}")
        for finding in former
        if finding.cause in again
    ]


def _end(alert: Alert, found: Sequence[AlertCause], now: datetime) -> datetime:
    """When the alert's cause was over, by the figures if they say it."""
    ends = [
        finding.ended_at
        for finding in found
        if finding.cause == alert.cause and finding.began_at >= alert.began_at and finding.ended_at
    ]
    return min(ends, default=now)


async def _with_limit(
    database: Database, rule: AlertRule, fresh: Sequence[AlertCause], now: datetime
) -> list[Alert]:
    """The alerts about these, of which so many are to be sent as the rule may send today."""
    if not fresh:
        return []
    left = MOST_SENT_A_DAY - await alerts.count_sent(database, rule.id, now - _DAY)
    return [alert_of(rule, finding, now, is_sent=number < left) for number, finding in enumerate(fresh)]


def _sent(changed: AlertNews) -> AlertNews:
    """What of it webhooks and people are told."""
    rule = changed.rule
    return AlertNews(
        rule,
        tuple(alert for alert in changed.fired if alert.is_sent),
        tuple(alert for alert in changed.over if alert.is_sent and rule.kind in TELLS_END),
    )


async def _store(database: Database, channels: AlertChannels, changed: AlertNews, now: datetime) -> bool:
    """Store what happened, and all that tells of it. Returns False where another process has done it."""
    news, rule = _sent(changed), changed.rule
    letters = await _mails(database, channels, news)

    async def work(session: ClientSession) -> None:
        for alert in changed.over:
            assert alert.ended_at
            if not await alerts.end_alert(database, session, alert, alert.ended_at, now):
                raise _ToldAlready
        if changed.fired:
            await alerts.insert_alerts(database, session, changed.fired)
        if rule.webhooks and news.alerts:
            facts = {rule.org_id: [alert_fact(rule, alert) for alert in news.alerts]}
            await entries.note(database, session, facts, expires_at=now + REMOVAL_FACTS_KEPT)
        for mail in letters:
            await mails.queue_mail_within(database, mail, now, session)

    try:
        await in_transaction(database, work)
    except _ToldAlready:
        return False
    except StorageError as error:
        if is_duplicate(error):
            return False
        raise
    return True


async def _mails(database: Database, channels: AlertChannels, news: AlertNews) -> list[Mail]:
    """A mail to each of the rule's people who still are the organization's."""
    rule = news.rule
    if channels.make_mail is None or not news.alerts or not rule.mail_to:
        return []
    known = {user.email for user in await list_users(database, rule.org_id)}
    link_ids: set[LinkId] = {alert.link_id for alert in news.alerts if alert.link_id}
    short_urls = await find_short_urls(database, rule.org_id, link_ids, channels.url_form)
    organization = await get_organization(database, rule.org_id)
    return [
        channels.make_mail(organization, news, address, short_urls)
        for address in rule.mail_to
        if address in known
    ]
