"""/members: who belongs to the organization, and who is invited (docs/teams.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

from backend.domain.accounts.invitations import INVITATION_FIELDS, InvitedBy, invitation_url
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.provisioning.membership import ProvisionedMember
from backend.domain.accounts.roles import LastOwner, Role, RoleNotGrantable
from backend.domain.accounts.users import User
from backend.domain.fields.rules import Uuid, Word
from backend.domain.fields.shapes import JsonForm, TimeText, UuidText, json_of
from backend.domain.ids import UserId
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.accounts.users import invitations, members
from backend.storage.accounts.users.users import list_users
from backend.web.current import resources

_PATH = "/members"
_ONE = f"{_PATH}/<member_text>"
_INVITATIONS = "/member-invitations"
_ID = PathParameter("memberId", Uuid().schema(), "The member's id.", errors=(error_table.MEMBER_NOT_FOUND,))
_INVITATION_ID = PathParameter(
    "invitationId",
    Uuid().schema(),
    "The invitation's id.",
    errors=(error_table.INVITATION_NOT_FOUND,),
)


@Operation(
    method="GET",
    path=_PATH,
    summary="List the members and their roles",
    needs=(Permission.MEMBERS_READ,),
    answer="MemberList",
)
async def get_members() -> dict[str, Any]:
    """All members, by e-mail address."""
    return {"members": [_json(user) for user in await list_users(resources().database, caller().org_id)]}


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a member's role",
    needs=(Permission.MEMBERS_WRITE,),
    path_parameter=_ID,
    body=BodyFields({"role": Word(Role)}, required=("role",)),
    answer="Member",
    errors=(error_table.ROLE_NOT_GRANTED, error_table.LAST_OWNER, error_table.PROVISIONED_MEMBER),
)
async def patch_member(member_text: str, fields: dict[str, Any]) -> MemberJson:
    """Give a member another role. It holds from their next click on."""
    key = caller()
    with _told():
        changed = await members.set_role(
            resources().database, key.org_id, UserId(member_text), fields["role"], granted=key.permissions
        )
    return _json(changed)


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Remove a member",
    needs=(Permission.MEMBERS_WRITE,),
    path_parameter=_ID,
    status=204,
    errors=(error_table.ROLE_NOT_GRANTED, error_table.LAST_OWNER, error_table.PROVISIONED_MEMBER),
)
async def remove_member(member_text: str) -> None:
    """End a membership. What the member made stays, and so do their other organizations."""
    key = caller()
    with _told():
        await members.remove_member(
            resources().database, key.org_id, UserId(member_text), granted=key.permissions
        )


@Operation(
    method="GET",
    path=_INVITATIONS,
    summary="List the open invitations of members",
    needs=(Permission.MEMBERS_READ,),
    answer="MemberInvitationList",
)
async def get_member_invitations() -> dict[str, Any]:
    """All invitations that nobody has used yet, the newest first."""
    found = await invitations.list_invitations(resources().database, caller().org_id, resources().clock())
    return {"invitations": [json_of(MemberInvitationJson, invitation) for invitation in found]}


@Operation(
    method="POST",
    path=_INVITATIONS,
    summary="Invite a member, and see the link for once",
    needs=(Permission.MEMBERS_WRITE,),
    body=BodyFields(INVITATION_FIELDS, required=tuple(INVITATION_FIELDS)),
    status=201,
    answer="NewMemberInvitation",
    errors=(error_table.ROLE_NOT_GRANTED,),
)
async def post_member_invitation(fields: dict[str, Any]) -> tuple[NewMemberInvitationJson, int]:
    """Invite somebody by their e-mail address. Nothing is sent: pass `url` on. It works once, for a week."""
    key = caller()
    with _told():
        token, invitation = await invitations.invite(
            resources().database, key.org_id, fields["email"], fields["role"],
            invited_by=InvitedBy.KEY.value, granted=key.permissions, now=resources().clock(),
        )  # fmt: skip
    url = invitation_url(resources().settings.base_url, token)
    return json_of(NewMemberInvitationJson, invitation, url=url), 201


@Operation(
    method="DELETE",
    path=f"{_INVITATIONS}/<invitation_text>",
    summary="Withdraw an invitation",
    needs=(Permission.MEMBERS_WRITE,),
    path_parameter=_INVITATION_ID,
    status=204,
)
async def remove_member_invitation(invitation_text: str) -> None:
    """Withdraw an invitation: its link works no more."""
    await invitations.withdraw_invitation(resources().database, caller().org_id, invitation_text)


@contextmanager
def _told() -> Iterator[None]:
    """Tell what must not be granted, and what an organization must keep, as the API's errors."""
    try:
        yield
    except RoleNotGrantable:
        raise ApiError(error_table.ROLE_NOT_GRANTED) from None
    except LastOwner:
        raise ApiError(error_table.LAST_OWNER) from None
    except ProvisionedMember:
        raise ApiError(error_table.PROVISIONED_MEMBER) from None


class MemberJson(TypedDict):
    """Who belongs to the organization."""

    id: UuidText
    email: str
    role: Role


class MemberInvitationJson(TypedDict):
    """That somebody may become a member."""

    id: UuidText
    email: str
    role: Role
    invited_by: Annotated[str, "The address of a member, or what else invited them."]
    created_at: TimeText
    expires_at: TimeText


class NewMemberInvitationJson(MemberInvitationJson):
    """An invitation with the link that accepts it."""

    url: Annotated[str, JsonForm({"type": "string", "format": "iri"}), "Works once. It is not shown again."]


def _json(user: User) -> MemberJson:
    return json_of(MemberJson, user, role=user.role_in(caller().org_id))
