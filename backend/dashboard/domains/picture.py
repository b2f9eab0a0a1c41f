"""A picture of the pages that visitors of a domain see: such a page itself, made as for visitors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from quart import Response

from backend.domain.domains.settings import DomainSettings
from backend.domain.taps.app_page import PageButtons
from backend.visitor_pages import pages
from backend.visitor_pages.look import Look
from backend.visitor_pages.pages import VisitorPage

_ONWARD = "https://shop.example/kites"
_NO_PREVIEW: Mapping[str, str] = {}
# What each picture is called, and how it is made.
_PICTURES: dict[str, tuple[str, Callable[[Look], VisitorPage]]] = {
    "not_found": (
        "Error: no such link, or a link that is off",
        lambda look: pages.message(look, "not_found", can_report=True),
    ),
    "password": ("A link with a password", partial(pages.password, is_picture=True)),
    "opens_app": (
        "A link that opens the app",
        lambda look: pages.app_page(look, _NO_PREVIEW, _ONWARD, _ONWARD),
    ),
    "in_app": (
        "The same, in an in-app browser",
        lambda look: pages.in_app_page(look, _NO_PREVIEW, PageButtons(_ONWARD, _ONWARD), _ONWARD),
    ),
    "leads_to": ("Where a link leads (+)", lambda look: pages.where_it_leads(look, "/spring", _ONWARD)),
    "unavailable": ("The service can't answer now", lambda look: pages.message(look, "unavailable")),
    "held": ("Stopped by the operator", lambda look: pages.message(look, "held", can_report=True)),
}
PICTURES = [(name, label) for name, (label, _) in _PICTURES.items()]
_FIRST = "not_found"


def picture(name: str, language: str, settings: DomainSettings) -> Response:
    """The page of this name. It stands in a frame of the dashboard, in which nothing can be sent."""
    _, make = _PICTURES.get(name, _PICTURES[_FIRST])
    page = make(Look(language, settings))
    policy = page.policy.partition("; form-action")[0]
    headers = {
        "Content-Security-Policy": f"{policy}; form-action 'none'; frame-ancestors 'self'",
        "X-Frame-Options": "SAMEORIGIN",
    }
    return Response(page.html, mimetype="text/html", headers=headers)
