"""/apps: the mobile apps that open the links of each domain."""

from __future__ import annotations

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.dashboard.taps.labs import KindChange, changes_of_apps
from backend.domain.accounts import apps as terms
from backend.domain.accounts.apps import Apps, InvalidApp, parse_apps
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import ItemUnknown
from backend.domain.web.client import PLATFORM_NAMES, Platform
from backend.storage.accounts.apps import find_apps, list_apps, set_apps
from backend.storage.accounts.domains import is_domain_of, list_domains
from backend.storage.links.path_rules import FileFill, find_file_fill
from backend.web.current import resources
from backend.web.sdk_files import app_archive
from backend.web.templates import render

_PREVIEW = "preview_taps"  # the name of the button that shows what a change does, before it is saved
# The form's field for each identifier.
_FIELDS = {
    terms.TEAM_ID: "ios_team_id",
    terms.BUNDLE_ID: "ios_bundle_id",
    terms.STORE_ID: "app_store_id",
    terms.SCHEME: "custom_scheme",
    terms.CLIPBOARD_PAGE: "clipboard_page",
    terms.MAIL_PAGE: "mail_page",
    terms.PACKAGE: "android_package",
    terms.FINGERPRINT: "android_fingerprints",
}


async def _stored(domain: str) -> dict[str, str]:
    await _check_owner(domain)
    return _values(await find_apps(resources().database, domain))


@dashboard.get("/apps")
@needs(Permission.SETTINGS_READ)
async def apps() -> Response:
    """The list of the organization's domains with the apps of each, and what an app's developer needs."""
    database = resources().database
    apps_by_domain = await list_apps(database, org_id())
    names = await list_domains(database, org_id())
    domains = [(name, apps_by_domain.get(name, Apps())) for name in names]
    base_url = resources().settings.base_url
    snippet = await render("dashboard/accounts/app_snippet.txt", base_url=base_url, domains=names)
    return await page(
        "accounts/apps.html",
        domains=domains,
        snippet=snippet,
        client_address=f"{base_url}/{app_archive()}",
    )


@dashboard.get("/apps/<domain>")
@needs(Permission.SETTINGS_READ)
@of_stored(_stored)
async def apps_of_domain(domain: str) -> Response:
    """The form to change a domain's apps."""
    return await _form(domain, dict(stored_fields()))


@dashboard.post("/apps/<domain>")
@needs(Permission.SETTINGS_WRITE)
@of_stored(_stored)
async def set_apps_of_domain(domain: str) -> Response:
    """Store a domain's apps, which replace earlier ones; or show for which links this would change what."""
    sent = {name: field(name) for name in (*_FIELDS.values(), "in_app_page")}
    try:
        new_apps = _read_form()
    except InvalidApp as error:
        return await _form(domain, sent, {_FIELDS[error.identifier]: error.rule})
    if field(_PREVIEW):
        return await _form(domain, sent, changes=await changes_of_apps(domain, new_apps))
    try:
        await set_apps(resources().database, domain, org_id(), new_apps)
    except ItemUnknown:  # removed meanwhile
        abort(404)
    return redirect_with_notice("apps", "apps-saved")


async def _check_owner(domain: str) -> None:
    if not await is_domain_of(resources().database, domain, org_id()):
        abort(404)


def _read_form() -> Apps:
    return parse_apps(
        team_id=field("ios_team_id").upper(),
        bundle_id=field("ios_bundle_id"),
        app_store_id=field("app_store_id"),
        package=field("android_package"),
        fingerprints=field("android_fingerprints").split(),
        custom_scheme=field("custom_scheme").lower(),
        in_app_page=field("in_app_page") == "yes",
        clipboard_page=field("clipboard_page") == "yes",
        mail_page=field("mail_page") == "yes",
    )


def _values(apps: Apps) -> dict[str, str]:
    ios, android = apps.ios, apps.android
    return {
        "ios_team_id": ios.team_id if ios else "",
        "ios_bundle_id": ios.bundle_id if ios else "",
        "app_store_id": (ios.app_store_id if ios else None) or "",
        "custom_scheme": (ios.custom_scheme if ios else None) or "",
        "clipboard_page": "yes" if ios and ios.clipboard_page else "",
        "mail_page": "yes" if ios and ios.mail_page else "",
        "in_app_page": "yes" if apps.in_app_page else "",
        "android_package": android.package if android else "",
        "android_fingerprints": "\n".join(android.fingerprints) if android else "",
    }


async def _form(
    domain: str,
    values: dict[str, str],
    errors: dict[str, str] | None = None,
    changes: list[KindChange] | None = None,
) -> Response:
    status = 422 if errors else 200
    return await page(
        "accounts/apps_of_domain.html",
        status,
        domain=domain,
        values=values,
        errors=errors or {},
        changes=changes,
        fills=await _fills(domain),
        short_url_form=resources().short_url_form,
    )


async def _fills(domain: str) -> list[tuple[str, FileFill]]:
    """How full each association file of the domain is, by what its phones are called."""
    apps_now = await find_apps(resources().database, domain)
    platforms = {Platform.IOS: apps_now.ios, Platform.ANDROID: apps_now.android}
    return [
        (PLATFORM_NAMES[platform], await find_file_fill(resources().database, domain, platform))
        for platform, app in platforms.items()
        if app
    ]
