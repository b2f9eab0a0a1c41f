"""/domains/<domain>/look: where a domain's root and unknown paths lead, and how its pages look."""

from __future__ import annotations

from collections.abc import Mapping

from quart import Response, abort

from backend.dashboard.domains.form import FormValues, parse, sent_values, shown_settings, values_of
from backend.dashboard.domains.picture import PICTURES, picture
from backend.dashboard.frame.blueprint import SECURITY_HEADERS, dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.settings import DomainSettings, OwnText, PageLanguage
from backend.domain.errors import FieldError, ItemUnknown
from backend.storage.accounts.domain_settings import find_domain_settings
from backend.storage.links.destinations.domain_destinations import change_domain_settings
from backend.visitor_pages.languages import DEFAULT, texts_in
from backend.web.current import resources

_POLICY = SECURITY_HEADERS["Content-Security-Policy"] + "; frame-src 'self'"
_LANGUAGES = {
    PageLanguage.ENGLISH: "English",
    PageLanguage.GERMAN: "German",
    PageLanguage.FRENCH: "French",
    PageLanguage.SPANISH: "Spanish",
}
_PAGES = {
    OwnText.NOT_FOUND: "Error",
    OwnText.UNAVAILABLE: "Can’t answer now",
    OwnText.PASSWORD: "Password",
    OwnText.OPENS_APP: "Opens the app",
    OwnText.IN_APP: "In-app browser",
}


async def _values(domain: str) -> FormValues:
    return values_of(await _stored(domain))


@dashboard.get("/domains/<domain>/look")
@needs(Permission.SETTINGS_WRITE)
@of_stored(_values)
async def domains_look(domain: str) -> Response:
    """The form, beside a picture of a page."""
    return await _page(domain, stored_fields(), {})


@dashboard.post("/domains/<domain>/look")
@needs(Permission.SETTINGS_WRITE)
@of_stored(_values)
async def domains_save_look(domain: str) -> Response:
    """Store the settings; if some break a rule, show the form again."""
    values = sent_values()
    fields, problems = parse(values)
    if not problems:
        try:
            await change_domain_settings(
                resources().database, org_id(), domain, fields, resources().destinations
            )
        except FieldError as error:
            problems = error.rule_by_field
        else:
            return redirect_with_notice("domains_look", "domain-saved", domain=domain)
    return await _page(domain, values, problems)


@dashboard.get("/domains/<domain>/picture")
@needs(Permission.SETTINGS_READ)
async def domains_picture(domain: str) -> Response:
    """The error page of the domain, as visitors see it now."""
    return picture("not_found", DEFAULT, await _stored(domain))


@dashboard.post("/domains/<domain>/picture")
@needs(Permission.SETTINGS_READ)
async def domains_draw_picture(domain: str) -> Response:
    """The chosen page as it would be with what the form says, which is not stored."""
    stored = await _stored(domain)
    fields, _ = parse(sent_values())
    language = field("language")
    return picture(
        field("picture"),
        language if language in list(PageLanguage) else DEFAULT,
        shown_settings(fields, stored),
    )


def _told_languages(values: FormValues, problems: Mapping[str, str]) -> set[str]:
    """The languages that have a text, or a problem with one."""
    told = [name for name, value in values.items() if value] + list(problems)
    return {name.split(".")[1] for name in told if name.startswith("texts.")}


async def _stored(domain: str) -> DomainSettings:
    try:
        return await find_domain_settings(resources().database, org_id(), domain)
    except ItemUnknown:
        abort(404)


async def _page(domain: str, values: FormValues, problems: Mapping[str, str]) -> Response:
    shown = await page(
        "domains/look.html",
        422 if problems else 200,
        domain=domain,
        values=values,
        problems=problems,
        pictures=PICTURES,
        languages=[(language.value, name, texts_in(language)) for language, name in _LANGUAGES.items()],
        told_languages=_told_languages(values, problems),
        own_texts=[(own.value, label) for own, label in _PAGES.items()],
    )
    shown.headers["Content-Security-Policy"] = _POLICY
    return shown
