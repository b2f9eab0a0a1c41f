"""The HTML pages that visitors may see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader

from backend.domain.links.links import Link
from backend.domain.taps.app_page import PageButtons
from backend.redirector.answers.answer import Answer, Headers, page
from backend.redirector.answers.languages import language_of, texts_in
from backend.redirector.request.visit import Visit

_templates = Environment(
    loader=PackageLoader("backend.redirector"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_HOST = re.compile(r"([^:/?#]+://(?:[^/?#]*@)?)([^/?#]*)")


def not_found(visit: Visit) -> Answer:
    """The error page for a link that does not exist or is disabled (contract, "States and transitions")."""
    return _message(visit, "not_found", 404, can_report=True)


def held(visit: Visit) -> Answer:
    """The page of a link that the service's operator has stopped."""
    return _message(visit, "held", 403, can_report=True)


def unavailable(visit: Visit) -> Answer:
    """The error page for when the database does not answer and the link is not cached."""
    return _message(visit, "unavailable", 503, [(b"retry-after", b"5")])


def thanks(visit: Visit) -> Answer:
    """The page after a report."""
    return _message(visit, "thanks", 200)


def too_many(visit: Visit, seconds: int) -> Answer:
    """The page for an address that has sent too many reports, and may send others after so many seconds."""
    return _message(visit, "too_many", 429, [(b"retry-after", b"%d" % seconds)])


def _message(
    visit: Visit, name: str, status: int, extra: Headers | None = None, *, can_report: bool = False
) -> Answer:
    language = language_of(visit.headers.get(b"accept-language", b""))
    texts = texts_in(language)
    title, text = texts[name]
    report = texts["report"][0] if can_report else ""
    html = _templates.get_template("message.html").render(
        language=language, title=title, text=text, report=report
    )
    return page(html, status, extra, has_form=can_report)


def page_with_form(template: str, status: int, **values: object) -> Answer:
    """A page that sends a form to this service."""
    return page(_templates.get_template(template).render(**values), status, has_form=True)


class Refused(IntEnum):
    """Why a password was refused. The value is the index of the sentence among the texts."""

    WRONG = 0
    LATER = 1


def password(
    visit: Visit, refused: Refused | None = None, status: int = 200, extra: Headers | None = None
) -> Answer:
    """The page that asks for a link's password, and why the last try was refused. It needs no scripts."""
    language = language_of(visit.headers.get(b"accept-language", b""))
    texts = texts_in(language)
    (title, text), (label, button) = texts["password"], texts["password_form"]
    html = _templates.get_template("password.html").render(
        language=language,
        title=title,
        text=text,
        label=label,
        button=button,
        problem="" if refused is None else texts["password_refused"][refused],
    )
    return page(html, status, extra, has_form=True)


def app_page(visit: Visit, link: Link, app_address: str, web: str) -> Answer:
    """A page with a button that opens the app, for browsers that open apps only after a tap."""
    return _buttons(visit, link, "opens_app", [("app", app_address)], web)


def in_app_page(visit: Visit, link: Link, buttons: PageButtons, web: str) -> Answer:
    """A page by which a link leaves an in-app browser, whose menu is the way if no button is known."""
    found = [("app", buttons.app), ("leave", buttons.browser)]
    return _buttons(visit, link, "in_app", [(name, to) for name, to in found if to], web)


def _buttons(visit: Visit, link: Link, name: str, addresses: Sequence[tuple[str, str]], web: str) -> Answer:
    """A page with a button for each address, whose label is the first text of that name."""
    language = language_of(visit.headers.get(b"accept-language", b""))
    texts = texts_in(language)
    title, text = texts[name]
    return page(
        _templates.get_template("app.html").render(
            language=language,
            title=link.social.get("social_title") or title,
            text=text if name == "in_app" else link.social.get("social_description") or text,
            buttons=[(texts[label][0], address) for label, address in addresses],
            other=texts["leave" if name == "in_app" else "app"][1],
            web=web,
            report=texts["report"][0],
        ),
        has_form=True,
    )


def where_it_leads(visit: Visit, onward: str, address: str | None, *, opens_app: bool = False) -> Answer:
    """The page that shows the address to which a short URL leads, and a button to go `onward`.

    Without an address, the page says that it is not shown.
    """
    language = language_of(visit.headers.get(b"accept-language", b""))
    texts = texts_in(language)
    title, text = texts["not_told" if address is None else "leads_to"]
    html = _templates.get_template("where_it_leads.html").render(
        language=language,
        title=title,
        text=text if address is None or opens_app else "",
        address=_around_host(address) if address else None,
        onward=onward,
        button=texts["leads_on"][0],
        report=texts["report"][0],
    )
    return page(html, has_form=True)


def _around_host(address: str) -> tuple[str, str, str]:
    """The address in three parts: what is before its host, the host with its port, and what is behind."""
    parts = _HOST.match(address)
    return (parts[1], parts[2], address[parts.end() :]) if parts else ("", address, "")


def preview(link: Link, web: str) -> Answer:
    """A page for link-preview fetchers, with the link's social fields as Open Graph and Twitter tags."""
    title = link.social.get("social_title", "")
    description = link.social.get("social_description", "")
    image = link.social.get("social_image_url", "")
    return page(
        _templates.get_template("preview.html").render(
            language="en",
            title=title or link.domain,
            heading=title,
            text=description,
            image=image,
            web=web,
            host=urlsplit(web).hostname,
        )
    )
