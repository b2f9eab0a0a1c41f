"""The HTML pages that visitors may see."""

from __future__ import annotations

from dataclasses import replace

from backend.domain.links.links import Link
from backend.domain.taps.app_page import PageButtons
from backend.redirector.answers.answer import Answer, Headers, page
from backend.redirector.request.visit import Visit
from backend.visitor_pages import pages
from backend.visitor_pages.languages import DEFAULT, language_of
from backend.visitor_pages.look import Look
from backend.visitor_pages.pages import Refused


def look_of(visit: Visit) -> Look:
    """Whose pages this visitor sees, in the language that the browser prefers."""
    return Look(language_of(visit.headers.get(b"accept-language", b"")), visit.settings)


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
    return page(pages.message(look_of(visit), name, can_report=can_report), status, extra)


def page_with_form(visit: Visit, template: str, status: int, **values: object) -> Answer:
    """A page that sends a form to this service."""
    return page(pages.form_page(look_of(visit), template, **values), status)


def password(
    visit: Visit, refused: Refused | None = None, status: int = 200, extra: Headers | None = None
) -> Answer:
    """The page that asks for a link's password, and why the last try was refused."""
    return page(pages.password(look_of(visit), refused), status, extra)


def to_continue(visit: Visit) -> Answer:
    """The page with a button to continue, which takes one of the link's clicks."""
    return page(pages.to_continue(look_of(visit)))


def app_page(visit: Visit, link: Link, app_address: str, web: str) -> Answer:
    """A page with a button that opens the app, for browsers that open apps only after a tap."""
    return page(pages.app_page(look_of(visit), link.social, app_address, web))


def in_app_page(visit: Visit, link: Link, buttons: PageButtons, web: str) -> Answer:
    """A page by which a link leaves an in-app browser."""
    return page(pages.in_app_page(look_of(visit), link.social, buttons, web))


def mail_page(visit: Visit, link: Link, app: str | None, store: str | None, web: str) -> Answer:
    """A page with a button that opens the app and one for the store, for who comes out of a mail."""
    return page(pages.mail_page(look_of(visit), link.social, app, store, web))


def where_it_leads(visit: Visit, onward: str, address: str | None, *, opens_app: bool = False) -> Answer:
    """The page that shows the address to which a short URL leads, and a button to go `onward`.

    Without an address, the page says that it is not shown.
    """
    return page(pages.where_it_leads(look_of(visit), onward, address, opens_app=opens_app))


def store_page(visit: Visit, link: Link, store: str, copied: str) -> Answer:
    """A page before the App Store, whose button copies a text."""
    return page(pages.store_page(look_of(visit), link.social, store, copied))


def preview(visit: Visit, link: Link, web: str) -> Answer:
    """A page for link-preview fetchers, with the link's social fields, in English as these are in any."""
    look = replace(look_of(visit), language=DEFAULT)
    return page(pages.preview(look, link.domain, link.social, web))
