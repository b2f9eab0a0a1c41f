"""Every page that visitors may see, made by the code that makes them, with fields that are hard on a page."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.domain.domains.settings import (
    NO_SETTINGS,
    Brand,
    DomainSettings,
    LinkDomain,
    OwnText,
    PageLanguage,
    PageText,
)
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.taps.app_page import PageButtons
from backend.redirector.answers import pages, report_page
from backend.redirector.answers.answer import Answer
from backend.redirector.answers.report_page import Problem
from backend.redirector.request.visit import Visit
from backend.visitor_pages.pages import Refused

NOW = datetime(2026, 1, 1, tzinfo=UTC)
INTENT = "intent://go.shop.example/spring#Intent;scheme=https;package=com.shop.app;end"
STORE = "https://apps.apple.com/app/id1234567890"
COPIED = "https://go.shop.example/spring#cl_clipboard=AAECAwQFBgcICQoLDA0ODw"
WEB = "https://shop.example/kites?utm_source=mail&cl_link_id=0b7d2b3a-1111-4222-8333-123456789abc"
SOCIAL = {
    "social_title": '</title><script>alert("x")</script>' + "Donaudampfschifffahrt" * 6,
    "social_description": "<img src=https://evil.example/x onerror=alert(1)>" + "x" * 300,
    "social_image_url": 'https://shop.example/kite.png?"><script src=//evil.example></script>',
}


BRAND = Brand(
    "Kites & <b>more</b>",
    "https://cdn.shop.example/logo;1.svg?v=2",
    "https://cdn.shop.example/icon.png",
    "#ffe600",
    "#10233f",
)
OWN_TEXT = PageText("No <i>kite</i> here", "Please look into our <shop>.")
BRANDED = DomainSettings(brand=BRAND, texts={PageLanguage.ENGLISH: dict.fromkeys(OwnText, OWN_TEXT)})


def sample_pages(language: str = "en", settings: DomainSettings = NO_SETTINGS) -> dict[str, Answer]:
    """The pages by name, of a domain with these settings."""
    visit = Visit(
        {
            "method": "GET",
            "path": "/spring",
            "raw_path": b"/spring",
            "query_string": b"",
            "headers": [(b"host", b"go.shop.example"), (b"accept-language", language.encode())],
        },
        {"go.shop.example": LinkDomain(OrgId("org"), settings)},
    )
    return {
        "error": pages.not_found(visit),
        "unavailable": pages.unavailable(visit),
        "app": pages.app_page(visit, link({}), INTENT, WEB),
        "app with social fields": pages.app_page(visit, link(SOCIAL), INTENT, WEB),
        "in-app browser": pages.in_app_page(visit, link(SOCIAL), PageButtons(INTENT, WEB), WEB),
        "in-app browser without a way out": pages.in_app_page(visit, link({}), PageButtons(None, None), WEB),
        "out of a mail": pages.mail_page(visit, link({}), "shopapp://go.shop.example/spring", STORE, WEB),
        "out of a mail without a store": pages.mail_page(visit, link(SOCIAL), "shopapp://x", None, WEB),
        "before the App Store": pages.store_page(visit, link({}), STORE, COPIED),
        "before the App Store with social fields": pages.store_page(visit, link(SOCIAL), STORE, COPIED),
        "password": pages.password(visit),
        "password that was wrong": pages.password(visit, Refused.WRONG, 403),
        "a button to continue": pages.to_continue(visit),
        "held": pages.held(visit),
        "report": report_page.form(visit, {"link": WEB}),
        "report that was wrong": report_page.form(visit, {"text": "<b>" + "x" * 300}, Problem.TEXT),
        "thanks for a report": pages.thanks(visit),
        "too many reports": pages.too_many(visit, 60),
        "where it leads": pages.where_it_leads(visit, "/spring?a=1", WEB, opens_app=True),
        "where it leads, of a long address": pages.where_it_leads(visit, "/spring", WEB + "x" * 900),
        "where it leads is not shown": pages.where_it_leads(visit, "/spring", None),
        "preview": pages.preview(visit, link(SOCIAL), WEB),
        "preview of a title": pages.preview(visit, link({"social_title": "Kites"}), WEB),
    }


def link(social: dict[str, str]) -> Link:
    """A link with these social fields."""
    return Link(
        LinkId("7"),
        OrgId("org"),
        "go.shop.example",
        "spring",
        "https://shop.example",
        "S",
        NOW,
        NOW,
        social=social,
    )
