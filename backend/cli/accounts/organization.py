"""`waylink organization`."""

from __future__ import annotations

import sys
from collections import Counter

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm_by_name, yes_option
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.destination_rules import DestinationRules, parse_rules
from backend.domain.accounts.organizations import NAME_RULE
from backend.domain.analytics.event_properties import MarkedProperties
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import HostName
from backend.domain.ids import OrgId
from backend.domain.web.host_names import is_ip_address
from backend.storage.accounts import announced_deletions, organizations
from backend.storage.accounts.deleted_organizations import find_deletion
from backend.storage.accounts.restores import unfinished_restores
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.system.clock import utc_now
from backend.web.public_suffixes import registrable_part


@click.command("deletions")
@stored
async def list_deletions(database: Database) -> CommandResult:
    """List the organizations that owners have announced to delete, the next one first.

    `waylink organization keep` takes a deletion back.
    """
    announced = await announced_deletions.list_announced(database)
    owners = await organizations.find_organizations(database, [deletion.org_id for deletion in announced])
    names = {owner.id: owner.name for owner in owners}
    return {
        "deletions": [
            {
                "org_id": deletion.org_id,
                "name": names.get(deletion.org_id, ""),
                "at": deletion.at.isoformat(timespec="seconds"),
                "asked_by": deletion.asked_by,
            }
            for deletion in announced
        ]
    }


@click.command("keep")
@org_option
@stored
async def keep(database: Database, org_id: OrgId) -> CommandResult:
    """Take back the announced deletion of an organization, which so stays as it is."""
    deletion = await announced_deletions.take_back_deletion(database, org_id)
    return {"org_id": org_id, "kept": True, "was_asked_by": deletion.asked_by}


@click.command("delete")
@org_option
@yes_option
@click.option("--no-wait", is_flag=True, help="Leave the last look to a running service.")
@stored
async def delete(database: Database, org_id: OrgId, is_confirmed: bool, no_wait: bool) -> CommandResult:
    """Delete an organization with all its links, counts, visitors' data, keys and domains.

    Users of no other organization are deleted too. Nothing can be brought back, but from what `waylink
    export` wrote before. It takes two minutes: at their end it looks once more, for clicks that were being
    counted. After an interruption run it again; a running service goes on with it as well. Of an organization
    whose restore was not finished, what that has stored is deleted.
    """
    # It needs all collections.
    from backend.storage.lifecycle.organization_deletion import delete_organization  # noqa: PLC0415

    if org_id in await unfinished_restores(database):
        question = f"Delete what an unfinished restore stored of the organization {printable(org_id)}?"
        confirm_by_name(question, org_id, is_confirmed)
    elif not await find_deletion(database, org_id):
        owner = await organizations.get_organization(database, org_id)
        number = await links.count_links(database, org_id)
        question = f"Delete the organization {printable(owner.name)} with {number:,} links and all data?"
        confirm_by_name(question, owner.name, is_confirmed)
    click.echo("From now on nothing of it can be used. Deleting all of it ...", err=True)
    deleted = await delete_organization(database, org_id, utc_now())
    if not no_wait:
        deleted += await _last_look(database, org_id)
    unfinished = await find_deletion(database, org_id)
    over_at = {"goes_on_until": unfinished.over_at.isoformat()} if unfinished else {}
    return {"org_id": org_id, "deleted": not unfinished, **over_at, "documents": deleted.total(), **+deleted}


async def _last_look(database: Database, org_id: OrgId) -> Counter[str]:
    """Wait until nothing can come late any more, and delete what came. Returns how many documents."""
    from backend.storage.lifecycle.organization_deletion import end_deletion  # noqa: PLC0415

    click.echo("What was there is deleted. Waiting for clicks that were just being stored;", err=True)
    click.echo("Ctrl-C leaves these to a running service.", err=True)
    with click.progressbar(length=1, label="Waiting", file=sys.stderr) as bar:
        longest = 0

        def show(seconds: float) -> None:
            nonlocal longest
            longest = bar.length = max(longest, round(seconds), 1)
            bar.update(longest - round(seconds) - bar.pos)

        return await end_deletion(database, org_id, utc_now, show)


def _name(_: click.Context, __: click.Parameter, text: str) -> str:
    try:
        return NAME_RULE.parse("name", text.strip())
    except InvalidField as error:
        raise click.BadParameter(f"the organization's {error}") from None


@click.group()
def organization() -> None:
    """Organizations: they own links, keys, domains and origins."""


@organization.command("create")
@click.argument("name", callback=_name)
@stored
async def create_organization(database: Database, name: str) -> CommandResult:
    """Create an organization called NAME and print its id."""
    created = await organizations.create_organization(database, name, utc_now())
    return {"id": created.id, "name": created.name}


@organization.command("rename")
@click.argument("name", callback=_name)
@org_option
@stored
async def rename_organization(database: Database, name: str, org_id: OrgId) -> CommandResult:
    """Call the organization NAME from now on. Its id, links and keys stay as they are."""
    await organizations.rename_organization(database, org_id, name)
    return {"id": org_id, "name": name}


@organization.command("set")
@org_option
@click.option(
    "--device-cookie",
    required=True,
    type=click.Choice(["on", "off"]),
    help="Whether the SDK's cookie is renewed by header behind a first-party proxy.",
)
@click.option(
    "--cookie-domain", metavar="DOMAIN", help="What the sites give `init` as cookieDomain, if they do."
)
@stored
async def set_organization(
    database: Database, org_id: OrgId, device_cookie: str, cookie_domain: str | None
) -> CommandResult:
    """Change how an organization's sites are served."""
    domain = await _cookie_domain(cookie_domain) if cookie_domain else None
    await organizations.set_device_cookie(database, org_id, device_cookie == "on", domain)
    return {"org_id": org_id, "device_cookie": device_cookie, "cookie_domain": domain}


@organization.command("click-ids")
@click.argument("setting", type=click.Choice(["on", "off"]))
@org_option
@stored
async def set_click_ids(database: Database, setting: str, org_id: OrgId) -> CommandResult:
    """Say whether redirects append the id of their click as cl_click_id. It holds within seconds."""
    await organizations.set_click_ids(database, org_id, setting == "on")
    return {"org_id": org_id, "click_ids": setting}


@organization.command("single-sign-on-optional")
@org_option
@stored
async def make_single_sign_on_optional(database: Database, org_id: OrgId) -> CommandResult:
    """Let members enter with passwords and passkeys again: for an organization whose identity provider fails.

    The provider stays set up beside them. An owner can require it again.
    """
    await organizations.set_requires_single_sign_on(database, org_id, is_on=False)
    return {"org_id": org_id, "requires_single_sign_on": False}


@organization.command("destinations")
@org_option
@click.option(
    "--allow", multiple=True, metavar="ADDRESS", help="Let links lead here; with any, nowhere else."
)
@click.option("--refuse", multiple=True, metavar="ADDRESS", help="Let links never lead here.")
@click.option("--clear", is_flag=True, help="Take all rules away first.")
@stored
async def set_destinations(
    database: Database, org_id: OrgId, allow: tuple[str, ...], refuse: tuple[str, ...], clear: bool
) -> CommandResult:
    """Say where an organization's links may lead; without options, print it.

    An ADDRESS is a host such as shop.com, with all below it; *.shop.com for what is below it alone; or
    shop.com/sale/*. New links, and new destinations of others, must keep to it within seconds.
    """
    stored_rules = (await organizations.get_organization(database, org_id)).destination_rules
    before = DestinationRules() if clear else stored_rules
    try:
        rules = parse_rules({"allowed": [*before.allowed, *allow], "refused": [*before.refused, *refuse]})
    except InvalidField as error:
        raise click.BadParameter(str(error)) from None
    if rules != stored_rules:
        await organizations.set_destination_rules(database, org_id, rules)
    return {"org_id": org_id, "allowed": ", ".join(rules.allowed), "refused": ", ".join(rules.refused)}


@organization.command("event-properties")
@org_option
@click.option(
    "--mark", multiple=True, metavar="NAME", help="Let reports name this property; may be repeated."
)
@click.option("--unmark", multiple=True, metavar="NAME", help="No longer; may be repeated.")
@stored
async def set_event_properties(
    database: Database, org_id: OrgId, mark: tuple[str, ...], unmark: tuple[str, ...]
) -> CommandResult:
    """Say which properties of events reports may name, as event.NAME; without options, print it.

    A property is a member of the metadata of events. It holds at once, also for events that were told before.
    """
    before = (await organizations.get_organization(database, org_id)).event_properties
    if unknown := [name for name in unmark if name not in before]:
        raise click.BadParameter(f"{unknown[0]} is not marked", param_hint="--unmark")
    try:
        names = MarkedProperties().parse("--mark", [*(name for name in before if name not in unmark), *mark])
    except InvalidField as error:
        raise click.UsageError(f"--mark {error.rule}") from None
    if names != before:
        await organizations.set_event_properties(database, org_id, names)
    return {"org_id": org_id, "properties": ", ".join(names)}


@organization.command("list")
@stored
async def list_organizations(database: Database) -> CommandResult:
    """List the organizations."""
    owners = await organizations.list_organizations(database)
    return {"organizations": [{"id": owner.id, "name": owner.name} for owner in owners]}


async def _cookie_domain(text: str) -> str:
    try:
        domain = HostName().parse("domain", text.removeprefix("."))
    except InvalidField as error:
        raise click.BadParameter(f"{text!r} {error.rule}", param_hint="--cookie-domain") from None
    if "." not in domain or is_ip_address(domain) or await registrable_part(domain) is None:
        raise click.BadParameter(
            f"{text!r} is not a domain such as shop.com, for which browsers take cookies",
            param_hint="--cookie-domain",
        )
    return domain


for command in (delete, list_deletions, keep):
    organization.add_command(command)
