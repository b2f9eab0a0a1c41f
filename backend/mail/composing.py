"""Makes the mails to recipients of reports: as text, and as HTML that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial

from jinja2 import Environment, PackageLoader

from backend.domain.mail.language import Language
from backend.domain.mail.mail import Mail
from backend.domain.reports.json_form import report_url
from backend.domain.reports.recipient import Frequency, Recipient, unlinked
from backend.domain.reports.report import Report
from backend.mail.figures.mailed import MailedReport, MailFigure
from backend.mail.numbers import day_in, whole_number
from backend.mail.texts import text_in

CONFIRM_PATH, UNSUBSCRIBE_PATH, SETTINGS_PATH = "/mail/confirm", "/mail/unsubscribe", "/mail/settings"
# The beginnings of the keys of mails. The id of a recipient follows, or of the user who wants a try.
FIGURES_KEY, CONFIRM_KEY, TRY_KEY = "figures/", "confirm/", "try/"
templates = Environment(
    loader=PackageLoader("backend.mail"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)


def figures_mail(
    base_url: str,
    organization: str,
    report: Report,
    recipient: Recipient,
    *,
    figures: MailedReport,
    first: date,
) -> Mail:
    """The mail with a report's figures of the week or month that begins with the day `first`."""
    unsubscribe_url = f"{base_url}{UNSUBSCRIBE_PATH}/{recipient.token}"
    why = _why("why", organization, report, recipient)
    text, html = _texts(
        base_url,
        report,
        recipient.language,
        figures,
        why=why,
        unsubscribe_url=unsubscribe_url,
        settings_url=f"{base_url}{SETTINGS_PATH}/{recipient.token}",
    )
    # A month is not named by its first day: whoever changes from weekly mails may have had that week's.
    of = first.isoformat() if recipient.frequency is Frequency.WEEKLY else f"{first:%Y-%m}"
    key = f"{FIGURES_KEY}{recipient.id}/{of}"
    subject = f"{report.name}: {figures.period}"
    return Mail(recipient.org_id, key, recipient.address, subject, text, html, unsubscribe_url)


def try_mail(
    base_url: str, organization: str, report: Report, reader: Recipient, *, figures: MailedReport, key: str
) -> Mail:
    """The same mail for somebody who wants to see it once: there is nothing to unsubscribe from."""
    why = _why("why_try", organization, report, reader)
    text, html = _texts(base_url, report, reader.language, figures, why=why)
    subject = text_in(reader.language, "words", "try_subject", subject=f"{report.name}: {figures.period}")
    return Mail(reader.org_id, key, reader.address, subject, text, html)


def confirmation_mail(base_url: str, organization: str, report: Report, recipient: Recipient) -> Mail:
    """The mail that asks somebody whether they want the figures of a report.

    It has nothing but the names of the organization and the report, which can't be links in it.
    """
    language = recipient.language
    assert recipient.code
    assert recipient.expires_at
    names = {
        "what": text_in(language, "words", recipient.frequency.value),
        "report": unlinked(report.name),
        "organization": unlinked(organization),
        "date": day_in(language, recipient.expires_at.astimezone(recipient.zone)),
    }
    texts = {
        name: text_in(language, "confirm", name, **names)
        for name in ("subject", "text", "button", "until", "never")
    } | {name: text_in(language, "words", name) for name in ("hello", "unsubscribe")}
    unsubscribe_url = f"{base_url}{UNSUBSCRIBE_PATH}/{recipient.token}"
    url = f"{base_url}{CONFIRM_PATH}/{recipient.token}/{recipient.code}"
    html = templates.get_template("confirm.html").render(
        language=language.value, texts=texts, url=url, unsubscribe_url=unsubscribe_url
    )
    parts = (texts["hello"], texts["text"], url, texts["until"], f"{texts['never']} {unsubscribe_url}")
    key = f"{CONFIRM_KEY}{recipient.id}/{recipient.code[:16]}"
    return Mail(
        recipient.org_id,
        key,
        recipient.address,
        texts["subject"],
        "\n\n".join(parts) + "\n",
        html,
        unsubscribe_url,
    )


def one_link(language: Language, section: str, names: Mapping[str, str], url: str) -> tuple[str, str, str]:
    """Subject, text and HTML of a mail that has one link, by the texts of the section; `names` fill them."""
    texts = {
        name: text_in(language, section, name, **names) for name in ("subject", "text", "button", "until")
    } | {"hello": text_in(language, "words", "hello")}
    html = templates.get_template("one_link.html").render(language=language.value, texts=texts, url=url)
    parts = (texts["hello"], texts["text"], url, texts["until"])
    return texts["subject"], "\n\n".join(parts) + "\n", html


def _why(name: str, organization: str, report: Report, recipient: Recipient) -> str:
    language = recipient.language
    what = text_in(language, "words", recipient.frequency.value)
    return text_in(language, "words", name, what=what, report=report.name, organization=organization)


def _texts(
    base_url: str,
    report: Report,
    language: Language,
    figures: MailedReport,
    *,
    why: str,
    unsubscribe_url: str | None = None,
    settings_url: str | None = None,
) -> tuple[str, str]:
    """The mail as text, and as HTML."""
    words = {
        "why": why,
        **{
            name: text_in(language, "words", name)
            for name in ("total", "no_rows", "noted", "open", "settings", "unsubscribe")
        },
    }
    url = report_url(base_url, report)
    more = partial(_more_rows, language)
    html = templates.get_template("figures.html").render(
        language=language.value,
        name=report.name,
        figures=figures,
        words=words,
        more=more,
        url=url,
        unsubscribe_url=unsubscribe_url,
        settings_url=settings_url,
    )
    end = [f"{words['settings']}: {settings_url}"] if settings_url else []
    end += [f"{words['unsubscribe']}: {unsubscribe_url}"] if unsubscribe_url else []
    lines = [*_figures_text(report.name, figures, words, more, url), *end]
    return "\n".join(lines) + "\n", html


def _more_rows(language: Language, count: int) -> str:
    return text_in(language, "words", "more_rows", count=whole_number(count, language))


def _figures_text(
    name: str, figures: MailedReport, words: dict[str, str], more: Callable[[int], str], url: str
) -> Iterator[str]:
    yield name
    yield f"{figures.period} ({figures.zone})"
    yield from [figures.compared] if figures.compared else []
    yield from (f"{label}: {value}" for label, value in figures.filters)
    yield from ("", words["total"].upper())
    yield from (*_lines(figures.totals), "")
    for section in figures.sections:
        yield section.by.upper()
        for row in section.rows:
            yield row.name
            yield from (*_lines(row.figures), "")
        yield from [] if section.rows else [words["no_rows"], ""]
        yield from [more(section.left_out), ""] if section.left_out else []
    for note in figures.notes:
        yield from (note, "")
    if figures.noted:
        yield words["noted"].upper()
        yield from (*(f"{day}: {text}" for day, text in figures.noted), "")
    yield from (f"{words['open']}: {url}", "", "-- ", words["why"])


def _lines(figures: Sequence[MailFigure]) -> Iterator[str]:
    width = max((len(figure.label) for figure in figures), default=0) + 2
    for figure in figures:
        change = f"  ({figure.change})" if figure.change else ""
        yield f"  {figure.label:<{width}}{', '.join(figure.lines)}{change}"
