"""/members: who belongs to the organization, with which role, and who is invited.

An owner opens it to let somebody in or out, or to see who can do what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quart import Response, abort

from backend.dashboard.accounts.users.reader import mail_language
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions, session, user
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import hashes_of, of_stored
from backend.domain.accounts.entry.password_resets import Hander, reset_url
from backend.domain.accounts.entry.who_gets_in import LinkWay, may_hand_reset
from backend.domain.accounts.invitations import INVITATION_FIELDS, invitation_url
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.provisioning.membership import ProvisionedMember
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import ROLE_MEANINGS, LastOwner, Role, RoleNotGrantable
from backend.domain.accounts.users import User
from backend.domain.errors import FieldError, RequestError, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import UserId
from backend.mail.member_mails import TooManyInvitations, mail_invitation
from backend.storage.accounts.directory.people import list_people
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.invitations import (
    invite,
    list_invitations,
    mailed_token,
    withdraw_invitation,
)
from backend.storage.accounts.users.members import get_member, remove_member, set_role
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.accounts.users.users import list_users
from backend.web.current import resources

_MAILED = "A mail with a link of its own is on its way."
_NOT_MAILED = "No mail goes out."
_ROLES = [(role.value, f"{role.value.title()}: {ROLE_MEANINGS[role]}") for role in Role]


@dataclass(frozen=True, slots=True)
class SecretLink:
    """A link that works once, to be copied now: what it is for, and whether it also went by mail."""

    heading: str
    url: str
    words: str


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member in the list. `may_reset` says whether the user may hand them a link for a new password.

    `person` is what the organization's identity provider told of them; None if nobody did. `saw` is what the
    form of the role sends: that form alone, since a page of many members would have all roles in each form.
    """

    user: User
    role: Role
    is_me: bool
    may_reset: bool
    person: ProvisionedPerson | None
    saw: str


async def _stored(user_id: UserId) -> Mapping[str, str]:
    return _role_of(await get_member(resources().database, org_id(), user_id))


def _role_of(member: User) -> Mapping[str, str]:
    return {"role": member.role_in(org_id()).value}


@dashboard.get("/members")
@needs(Permission.MEMBERS_READ)
async def members() -> Response:
    """All members and open invitations."""
    return await _page()


@dashboard.post("/members/invitations")
@needs(Permission.MEMBERS_WRITE)
@once
async def members_invite() -> Response:
    """Invite somebody, and show the link; where mails are sent, it goes by mail too."""
    sent, errors = {name: field(name) for name in INVITATION_FIELDS}, list[FieldError]()
    values = parse_fields(INVITATION_FIELDS, sent, errors)
    database, settings, now = resources().database, resources().settings, resources().clock()
    try:
        raise_all(errors)
        token, invitation = await invite(
            database, org_id(), values["email"], values["role"], invited_by=user().email,
            granted=permissions(), now=now,
        )  # fmt: skip
    except FieldError as error:
        return await _page(problems=error.rule_by_field, values=sent)
    words = f"Give it to {invitation.email} now: it is not shown again. It works once, for seven days."
    if settings.sends_mail:
        organization = await get_organization(database, org_id())
        try:
            await mail_invitation(
                database, settings.base_url, organization.name, invitation,
                token=await mailed_token(database, invitation), language=mail_language(), now=now,
            )  # fmt: skip
            words += f" {_MAILED}"
        except TooManyInvitations as error:
            words += f" {_NOT_MAILED} {error}"
    link = SecretLink("The invitation's link", invitation_url(settings.base_url, token), words)
    return await _page(link=link)


@dashboard.post("/members/invitations/<invitation_id>/withdraw")
@needs(Permission.MEMBERS_WRITE)
async def members_withdraw(invitation_id: str) -> Response:
    """Withdraw an invitation."""
    await withdraw_invitation(resources().database, org_id(), invitation_id)
    return redirect_with_notice("members", "invitation-withdrawn")


@dashboard.post("/members/<user_id>/role")
@needs(Permission.MEMBERS_WRITE)
@of_stored(_stored)
async def members_role(user_id: UserId) -> Response:
    """Give a member another role."""
    if field("role") not in set(Role):
        abort(400)
    role = Role(field("role"))
    try:
        await set_role(resources().database, org_id(), user_id, role, granted=permissions())
    except (LastOwner, ProvisionedMember, RoleNotGrantable) as error:
        return await _page(problem=error)
    endpoint = "members" if user_id != user().id or Permission.MEMBERS_READ in role.permissions else "home"
    return redirect_with_notice(endpoint, "role-set")


@dashboard.post("/members/<user_id>/remove")
@needs(Permission.MEMBERS_WRITE)
async def members_remove(user_id: UserId) -> Response:
    """End a membership."""
    try:
        await remove_member(resources().database, org_id(), user_id, granted=permissions())
    except (LastOwner, ProvisionedMember, RoleNotGrantable) as error:
        return await _page(problem=error)
    return redirect_with_notice("members" if user_id != user().id else "home", "member-removed")


@dashboard.post("/members/<user_id>/new-password")
@needs(Permission.MEMBERS_WRITE)
@once
async def members_reset(user_id: UserId) -> Response:
    """Show a link with which a member sets a new password."""
    database, now = resources().database, resources().clock()
    member = await get_member(database, org_id(), user_id)
    if not may_hand_reset(user(), member):
        abort(403, "They are in an organization, too, that you are no owner of. They can ask for a mail.")
    hander = Hander(user().id, session().provider_org_id)
    token = await begin_reset(database, member.id, now, LinkWay.HANDED, hander)
    words = (
        f"Give it to {member.email} now: it is not shown again. It works once, for a day, and no more once "
        "they join an organization that you are no owner of."
    )
    url = reset_url(resources().settings.base_url, token)
    return await _page(link=SecretLink("A link to set a new password", url, words))


async def _page(
    *,
    link: SecretLink | None = None,
    problem: RequestError | None = None,
    problems: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    found = await list_users(resources().database, org_id())
    told = [person for person in await list_people(resources().database, org_id()) if person.is_active]
    by_account = {person.user_id: person for person in told}
    rows = [
        MemberRow(
            member,
            member.role_in(org_id()),
            member.id == user().id,
            may_hand_reset(user(), member),
            by_account.get(member.id),
            hashes_of(_role_of(member)),
        )
        for member in found
    ]
    return await page(
        "accounts/members.html",
        422 if problem or problems else 200,
        rows=rows,
        waiting=[person for person in told if person.user_id is None],
        invitations=await list_invitations(resources().database, org_id(), resources().clock()),
        roles=list(Role),
        role_choices=_ROLES,
        meanings=ROLE_MEANINGS,
        link=link,
        problem=problem,
        problems=problems or {},
        values=values or {"email": "", "role": Role.VIEWER.value},
        sends_mail=resources().settings.sends_mail,
    )
