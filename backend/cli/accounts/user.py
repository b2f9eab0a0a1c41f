"""`waylink user`."""

from __future__ import annotations

import uuid
from typing import Any

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.cli.password_prompt import read_password, stdin_option
from backend.cli.printable import printable
from backend.domain.accounts.entry.password_resets import reset_url
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.invitations import InvitedBy, invitation_url
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User, WeakPassword, check_password
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import InvalidEmail, normalize_email
from backend.domain.ids import OrgId, UserId
from backend.environment import load_settings
from backend.rate_limits.sign_in_limits import SignInLimits
from backend.storage.accounts import organizations
from backend.storage.accounts.users import (
    invitations,
    new_passwords,
    password_resets,
    second_factors,
    sessions,
    users,
)
from backend.storage.accounts.users.deletion import delete_account
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.system.clock import utc_now

orgs_option = click.option(
    "--org", "org_ids", required=True, multiple=True, metavar="ID",
    help="Id of an organization that the user acts for; may be given more than once.",
)  # fmt: skip


def _email(_: click.Context, __: click.Parameter, text: str) -> str:
    try:
        return normalize_email(text)
    except InvalidEmail as error:
        raise click.BadParameter(f"{text!r} {error}") from None


role_option = click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.OWNER.value,
    show_default=True,
    help="What the user may do in these organizations.",
)

managed_by_option = click.option(
    "--org", "org_id", metavar="ID",
    help="Id of the organization whose identity provider EMAIL comes by; without it, the user of that "
    "address who has a sign-in of their own.",
)  # fmt: skip

email_argument = click.argument("email", callback=_email)


@click.group()
def user() -> None:
    """Users: the people who sign in to the dashboard."""


@user.command("create")
@email_argument
@orgs_option
@role_option
@stdin_option
@stored
async def create_user(
    database: Database, email: str, org_ids: tuple[OrgId, ...], role: str, password_stdin: bool
) -> CommandResult:
    """Let a person sign in with EMAIL and a password. The password is asked for."""
    for org_id in org_ids:
        await organizations.get_organization(database, org_id)
    password_hash = await hash_password(_read_password(password_stdin), "the command")
    roles = dict.fromkeys(org_ids, Role(role))
    made = User(UserId(str(uuid.uuid4())), email, password_hash, tuple(roles), utc_now(), roles)
    await users.insert_user(database, made)
    return {"id": made.id}


@user.command("password")
@email_argument
@stdin_option
@stored
async def set_password(database: Database, email: str, password_stdin: bool) -> CommandResult:
    """Set a new password for EMAIL. Sessions that were opened with the old one end.

    Wrong tries from addresses that EMAIL has not signed in from are forgotten.
    """
    stored_user = await _get_user(database, email)
    password_hash = await hash_password(_read_password(password_stdin), "the command")
    await new_passwords.set_password(database, stored_user.id, password_hash)
    await SignInLimits(database, utc_now).forget_account(stored_user.email)
    return {"id": stored_user.id}


@user.command("second-factor-off")
@email_argument
@yes_option
@stored
async def turn_off_second_factor(database: Database, email: str, is_confirmed: bool) -> CommandResult:
    """Let EMAIL sign in with the password alone: for somebody who has lost the phone and the recovery codes.

    Make sure that it is they who ask. All their sessions end.
    """
    stored_user = await _get_user(database, email)
    if stored_user.second_factor is None:
        raise click.ClickException(f"{printable(email)} has no second factor.")
    confirm(f"Turn off the second factor of {printable(stored_user.email)}?", is_confirmed)
    await second_factors.remove_second_factor(database, stored_user.id)
    await sessions.delete_sessions_of(database, stored_user.id)
    return {"id": stored_user.id, "second_factor": False}


@user.command("organizations")
@email_argument
@orgs_option
@role_option
@stored
async def set_organizations(
    database: Database, email: str, org_ids: tuple[OrgId, ...], role: str
) -> CommandResult:
    """Set the organizations that EMAIL acts for; they replace earlier ones.

    The role is for organizations that are new to EMAIL: in the others it stays.
    """
    for org_id in org_ids:
        await organizations.get_organization(database, org_id)
    stored_user = await _get_user(database, email)
    known = {org_id: stored_user.role_in(org_id) for org_id in stored_user.org_ids}
    roles = {org_id: known.get(org_id, Role(role)) for org_id in org_ids}
    await users.set_roles(database, stored_user.id, roles)
    return {"id": stored_user.id}


@user.command("role")
@email_argument
@click.argument("role", type=click.Choice([role.value for role in Role]))
@org_option
@stored
async def set_role(database: Database, email: str, role: str, org_id: OrgId) -> CommandResult:
    """Give EMAIL the role ROLE in an organization that the user acts for.

    Unlike the dashboard, this also takes the last owner's role away.
    """
    stored_user = await users.find_member_by_email(database, org_id, email)
    if stored_user is None or not await users.set_role(database, stored_user.id, org_id, Role(role)):
        raise click.ClickException(f"{printable(email)} does not act for the organization {org_id}.")
    return {"id": stored_user.id, "role": role}


@user.command("invite")
@email_argument
@org_option
@role_option
@stored
async def invite_user(database: Database, email: str, org_id: OrgId, role: str) -> CommandResult:
    """Invite EMAIL to an organization, and print a link that makes them a member, once, within a week.

    Nothing is sent: pass the link on.
    """
    await organizations.get_organization(database, org_id)
    try:
        token, invitation = await invitations.invite(
            database, org_id, email, Role(role), invited_by=InvitedBy.COMMAND_LINE.value,
            granted=EVERYTHING, now=utc_now(),
        )  # fmt: skip
    except InvalidField as error:
        raise click.ClickException(f"{printable(email)} {error.rule}.") from None
    url = invitation_url(load_settings().base_url, token)
    return {"url": url, "expires": invitation.expires_at.isoformat(timespec="seconds")}


@user.command("reset")
@email_argument
@stored
async def reset_password(database: Database, email: str) -> CommandResult:
    """Print a link with which EMAIL sets a new password, once, within a day.

    Nothing is sent: pass the link on.
    """
    stored_user = await _get_user(database, email)
    token = await password_resets.begin_reset(database, stored_user.id, utc_now(), LinkWay.HANDED)
    return {"url": reset_url(load_settings().base_url, token)}


@user.command("sign-out")
@email_argument
@managed_by_option
@stored
async def sign_out_user(database: Database, email: str, org_id: OrgId | None) -> CommandResult:
    """Sign EMAIL out of the dashboard, in every browser."""
    stored_user = await _get_account(database, email, org_id)
    await sessions.delete_sessions_of(database, stored_user.id)
    return {"id": stored_user.id, "signed_out": True}


@user.command("list")
@stored
async def list_users(database: Database) -> CommandResult:
    """List the users, with the ids of their organizations and the role in each."""
    return {"users": [_row(stored_user) for stored_user in await users.list_users_of_all(database)]}


@user.command("delete")
@email_argument
@managed_by_option
@yes_option
@stored
async def delete_user(
    database: Database, email: str, org_id: OrgId | None, is_confirmed: bool
) -> CommandResult:
    """Delete the user EMAIL and end all its sessions. Links and keys that it created stay."""
    stored_user = await _get_account(database, email, org_id)
    confirm(f"Delete the user {printable(stored_user.email)}?", is_confirmed)

    async def work(session: ClientSession) -> None:
        await delete_account(database, stored_user.id, session)

    await in_transaction(database, work)
    return {"id": stored_user.id, "deleted": True}


async def _get_user(database: Database, email: str) -> User:
    """The user who has this address and a sign-in of their own."""
    return await _get_account(database, email, None)


async def _get_account(database: Database, email: str, managed_by: OrgId | None) -> User:
    """The user with this address: with a sign-in of their own, or whom the organization's provider named."""
    stored_user = await users.find_managed_user(database, managed_by, email)
    if stored_user is None:
        raise users.UnknownUser(email)
    return stored_user


def _read_password(from_stdin: bool) -> str:
    password = read_password(from_stdin)
    try:
        check_password(password)
    except WeakPassword as error:
        raise click.ClickException(f"The password {error}.") from None
    return password


def _row(stored_user: User) -> dict[str, Any]:
    return {
        "id": stored_user.id,
        "email": stored_user.email,
        "organizations": list(stored_user.org_ids),
        "roles": [stored_user.role_in(org_id).value for org_id in stored_user.org_ids],
        "second_factor": stored_user.second_factor is not None,
        "managed_by": stored_user.managed_by,
        "address_proved": stored_user.is_address_proved,
    }
