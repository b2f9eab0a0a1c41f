"""`waylink app`."""

from __future__ import annotations

from dataclasses import asdict

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.domain.accounts.apps import Apps, InvalidApp, parse_apps
from backend.domain.errors import ItemUnknown
from backend.domain.ids import OrgId
from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.storage.accounts import apps, domains, organizations
from backend.storage.driver.mongo import Database


@click.group()
def app() -> None:
    """Mobile apps that open the links of a domain."""


@app.command("set")
@click.argument("domain_name", metavar="DOMAIN")
@org_option
@click.option("--ios-team-id", metavar="ID", help="The team's id in Apple's developer account.")
@click.option("--ios-bundle-id", metavar="ID", help="The iOS app's bundle id, such as com.shop.app.")
@click.option("--app-store-id", metavar="NUMBER", help="The number in the app's App Store address.")
@click.option(
    "--ios-scheme",
    metavar="NAME",
    help="A scheme of the iOS app's own, such as shopapp.",
)
@click.option(
    "--clipboard-page", is_flag=True,
    help="On iOS, show a page before the App Store, whose button copies a text for the first launch.",
)  # fmt: skip
@click.option(
    "--mail-page", is_flag=True,
    help="On iOS, show who comes out of a mail a page that opens the app by its scheme, or the store.",
)  # fmt: skip
@click.option("--android-package", metavar="NAME", help="The Android app's package, such as com.shop.app.")
@click.option(
    "--android-fingerprint", "fingerprints", multiple=True, metavar="SHA256",
    help="SHA-256 of a certificate that the Android app is signed with; may be given more than once.",
)  # fmt: skip
@click.option(
    "--in-app-page", is_flag=True,
    help="Show a page with a button in in-app browsers, such as Instagram's.",
)  # fmt: skip
@yes_option
@stored
async def set_app(  # noqa: PLR0917 - click passes them by name
    database: Database,
    domain_name: str,
    org_id: OrgId,
    ios_team_id: str | None,
    ios_bundle_id: str | None,
    app_store_id: str | None,
    ios_scheme: str | None,
    clipboard_page: bool,
    mail_page: bool,
    android_package: str | None,
    fingerprints: tuple[str, ...],
    in_app_page: bool,
    is_confirmed: bool,
) -> CommandResult:
    """Set the apps of DOMAIN; they replace earlier ones. Without options, it has none."""
    try:
        name = normalize_host(domain_name)
        app_settings = parse_apps(
            team_id=ios_team_id or "",
            bundle_id=ios_bundle_id or "",
            app_store_id=app_store_id or "",
            package=android_package or "",
            fingerprints=fingerprints,
            custom_scheme=ios_scheme or "",
            clipboard_page=clipboard_page,
            mail_page=mail_page,
            in_app_page=in_app_page,
        )
    except (InvalidApp, InvalidHostName) as error:
        raise click.UsageError(str(error)) from None
    if in_app_page and not app_settings.in_app_page:
        raise click.UsageError(
            "--in-app-page needs an app: give --ios-team-id and --ios-bundle-id, or --android-package."
        )
    await organizations.get_organization(database, org_id)
    if not await domains.is_domain_of(database, name, org_id):
        raise click.UsageError(f"The domain {name} does not belong to the organization {org_id}.")
    if app_settings == Apps() != await apps.find_apps(database, name):
        confirm(f"Remove the apps of {name}?", is_confirmed)
    try:
        await apps.set_apps(database, name, org_id, app_settings)
    except ItemUnknown:
        raise click.UsageError(f"The domain {name} is being removed.") from None
    return {"domain": name, **asdict(app_settings)}


@app.command("list")
@org_option
@stored
async def list_apps(database: Database, org_id: OrgId) -> CommandResult:
    """List the apps of an organization's domains."""
    await organizations.get_organization(database, org_id)
    apps_by_domain = await apps.list_apps(database, org_id)
    return {"apps": [{"domain": name, **asdict(domain_apps)} for name, domain_apps in apps_by_domain.items()]}
