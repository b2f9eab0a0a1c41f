"""JSON Schemas of members in answers."""

from __future__ import annotations

from backend.domain.accounts.roles import Role
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.answer_schemas import answer_object
from backend.rest_api.routes.operation import reference

_ID: Schema = {"type": "string", "format": "uuid"}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
_ROLE: Schema = {"type": "string", "enum": [role.value for role in Role]}
_MEMBER: dict[str, Schema] = {"id": _ID, "email": {"type": "string"}, "role": _ROLE}
_INVITATION: dict[str, Schema] = {
    "id": _ID,
    "email": {"type": "string"},
    "role": _ROLE,
    "invited_by": {"type": "string", "description": "The address of a member, or what else invited them."},
    "created_at": _INSTANT,
    "expires_at": _INSTANT,
}
_URL: Schema = {"type": "string", "format": "iri", "description": "Works once. It is not shown again."}


MEMBER_SCHEMAS: dict[str, Schema] = {
    "Member": answer_object(**_MEMBER),
    "MemberList": answer_object(members={"type": "array", "items": reference("Member")}),
    "MemberInvitation": answer_object(**_INVITATION),
    "NewMemberInvitation": answer_object(**_INVITATION | {"url": _URL}),
    "MemberInvitationList": answer_object(
        invitations={"type": "array", "items": reference("MemberInvitation")},
    ),
}
