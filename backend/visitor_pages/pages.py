"""Makes the pages that visitors see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader

from backend.domain.taps.app_page import PageButtons
from backend.visitor_pages.look import Look, content_policy

_templates = Environment(
    loader=PackageLoader("backend.visitor_pages"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_COPY = _templates.get_template("copy.js").render()
# Of pages whose form takes a click of the link: it keeps a double tap from taking two.
_ONCE = _templates.get_template("once.js").render()
_HOST = re.compile(r"([^:/?#]+://(?:[^/?#]*@)?)([^/?#]*)")


@dataclass(frozen=True, slots=True)
class VisitorPage:
    """A whole page, and the Content-Security-Policy that it needs."""

    html: str
    policy: str


class Refused(IntEnum):
    """Why a password was refused. The value is the index of the sentence among the texts."""

    WRONG = 0
    LATER = 1


def form_page(look: Look, template: str, **values: Any) -> VisitorPage:
    """A page that sends a form to this service."""
    return _page(look, template, has_form=True, **values)


def message(look: Look, name: str, *, can_report: bool = False) -> VisitorPage:
    """A page that only says something."""
    title, text = look.title_and_text(name)
    report = look.texts()["report"][0] if can_report else ""
    return _page(look, "message.html", has_form=can_report, title=title, text=text, report=report)


def password(look: Look, refused: Refused | None = None, *, is_picture: bool = False) -> VisitorPage:
    """The page that asks for a link's password, and why the last try was refused.

    In a picture of it, nothing can be sent and no script runs, so it has none.
    """
    texts = look.texts()
    title, text = look.title_and_text("password")
    label, button = texts["password_form"]
    problem = "" if refused is None else texts["password_refused"][refused]
    return _page(
        look,
        "password.html",
        has_form=True,
        script=None if is_picture else _ONCE,
        title=title,
        text=text,
        label=label,
        button=button,
        problem=problem,
    )


def to_continue(look: Look) -> VisitorPage:
    """The page before a link with few clicks, whose button is a form that programs do not send."""
    title, text = look.texts()["to_continue"]
    return _page(
        look,
        "continue.html",
        has_form=True,
        script=_ONCE,
        title=title,
        text=text,
        button=look.texts()["leads_on"][0],
        report=look.texts()["report"][0],
    )


def app_page(look: Look, social: Mapping[str, str], app_address: str, web: str) -> VisitorPage:
    """A page with a button that opens the app, for browsers that open apps only after a tap."""
    return _buttons(look, social, "opens_app", {"app": app_address}, web)


def in_app_page(look: Look, social: Mapping[str, str], buttons: PageButtons, web: str) -> VisitorPage:
    """A page by which a link leaves an in-app browser, whose menu is the way if no button is known."""
    return _buttons(look, social, "in_app", {"app": buttons.app, "leave": buttons.browser}, web)


def mail_page(
    look: Look, social: Mapping[str, str], app: str | None, store: str | None, web: str
) -> VisitorPage:
    """A page with a button that opens the app and one for the store, for who comes out of a mail."""
    return _buttons(look, social, "by_mail", {"app": app, "get_app": store}, web)


def store_page(look: Look, social: Mapping[str, str], store: str, copied: str) -> VisitorPage:
    """A page before the App Store, whose button copies a text. Without JavaScript it still leads on."""
    texts = look.texts()
    (title, text), (button, other) = texts["store"], texts["to_store"]
    return _page(
        look,
        "store.html",
        has_form=True,
        script=_COPY,
        title=social.get("social_title") or title,
        text=text,
        store=store,
        copied=copied,
        button=button,
        other=other,
        report=texts["report"][0],
    )


def _buttons(
    look: Look, social: Mapping[str, str], name: str, addresses: Mapping[str, str | None], web: str
) -> VisitorPage:
    """A page with a button for each address that is known, whose label is the first text of that name."""
    texts = look.texts()
    title, text = look.title_and_text(name)
    return form_page(
        look,
        "app.html",
        title=social.get("social_title") or title,
        text=social.get("social_description") or text if name == "opens_app" else text,
        buttons=[(texts[label][0], address) for label, address in addresses.items() if address],
        other=texts["leave" if name == "in_app" else "app"][1],
        web=web,
        report=texts["report"][0],
    )


def where_it_leads(look: Look, onward: str, address: str | None, *, opens_app: bool = False) -> VisitorPage:
    """The page that shows the address to which a short URL leads, and a button to go `onward`.

    Without an address, the page says that it is not shown.
    """
    texts = look.texts()
    title, text = texts["not_told" if address is None else "leads_to"]
    return form_page(
        look,
        "where_it_leads.html",
        title=title,
        text=text if address is None or opens_app else "",
        address=_around_host(address) if address else None,
        onward=onward,
        button=texts["leads_on"][0],
        report=texts["report"][0],
    )


def _around_host(address: str) -> tuple[str, str, str]:
    """The address in three parts: what is before its host, the host with its port, and what is behind."""
    parts = _HOST.match(address)
    return (parts[1], parts[2], address[parts.end() :]) if parts else ("", address, "")


def preview(look: Look, domain: str, social: Mapping[str, str], web: str) -> VisitorPage:
    """A page for link-preview fetchers, with the link's social fields as Open Graph and Twitter tags."""
    title = social.get("social_title", "")
    return _page(
        look,
        "preview.html",
        title=title or look.brand.name or domain,
        heading=title,
        text=social.get("social_description", ""),
        image=social.get("social_image_url", ""),
        web=web,
        host=urlsplit(web).hostname,
    )


def _page(
    look: Look, template: str, *, has_form: bool = False, script: str | None = None, **values: object
) -> VisitorPage:
    """The page of this template, which has this script in it, and works without, too."""
    brand = look.brand
    html = _templates.get_template(template).render(
        language=look.language, brand=brand, style=brand.style, script=script, **values
    )
    return VisitorPage(html, content_policy(brand, has_form=has_form, script=script))
