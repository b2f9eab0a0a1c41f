"""Makes the mails that tell of alerts: as text, and as HTML that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.accounts.organizations import Organization
from backend.domain.alerts.alert import Alert, AlertNews
from backend.domain.alerts.rule import ALERT_KEY
from backend.domain.alerts.words import Reader, kind_name, why
from backend.domain.fields.email_addresses import address_hash
from backend.domain.ids import LinkId
from backend.domain.mail.mail import Mail
from backend.mail.composing import templates

# The id of a rule and a token follow.
STOP_PATH = "/mail/alerts/stop"


@dataclass(frozen=True, slots=True)
class _Line:
    short_url: str
    text: str
    is_over: bool


def alert_mail(
    base_url: str, organization: Organization, news: AlertNews, address: str, short_urls: Mapping[LinkId, str]
) -> Mail:
    """The mail that tells somebody of these news of a rule, of which there is at least one."""
    rule, first = news.rule, news.alerts[0]
    reader = Reader(rule.language, rule.zone)
    lines = [_line(alert, short_urls, reader) for alert in news.alerts]
    page = f"{base_url}/alerts"
    stop_url = f"{base_url}{STOP_PATH}/{rule.id}/{rule.unsubscribe_token(address)}"
    words = {
        "told_by": reader.say("told_by", rule=rule.name, organization=organization.name),
        "see_all": reader.say("see_all"),
        "stop": reader.say("stop"),
    }
    subject = _subject(news, reader)
    html = templates.get_template("alert.html").render(
        language=rule.language.value, subject=subject, lines=lines, words=words, page=page, stop_url=stop_url
    )
    said = [f"{line.short_url}: {line.text}" if line.short_url else line.text for line in lines]
    end = f"{words['told_by']}\n{words['see_all']}: {page}\n{words['stop']}: {stop_url}"
    text = "\n\n".join([*said, end]) + "\n"
    what = "over" if first.ended_at else "fired"
    key = f"{ALERT_KEY}{rule.id}/{first.id}/{what}/{address_hash(address)[:32]}"
    return Mail(rule.org_id, key, address, subject, text, html, stop_url, to_member=True)


def _subject(news: AlertNews, reader: Reader) -> str:
    subject = f"{kind_name(news.rule.kind, reader)}: {news.rule.name}"
    if not news.fired:
        subject = reader.say("over_subject", subject=subject)
    more = len(news.alerts) - 1
    return reader.say("and_more", subject=subject, number=more) if more else subject


def _line(alert: Alert, short_urls: Mapping[LinkId, str], reader: Reader) -> _Line:
    said = why(alert.kind, alert.figures, reader)
    if alert.ended_at:
        said = reader.say("over", at=alert.ended_at, why=said)
    short_url = short_urls.get(alert.link_id, "") if alert.link_id else ""
    return _Line(short_url, said, alert.ended_at is not None)
