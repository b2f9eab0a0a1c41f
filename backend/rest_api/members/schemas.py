"""JSON Schemas of members in answers."""

from __future__ import annotations

from backend.domain.accounts.roles import Role
from backend.domain.fields.answer_schemas import TEXT, TIME, UUID, answer_object
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_ROLE: Schema = {"type": "string", "enum": [role.value for role in Role]}
_MEMBER: dict[str, Schema] = {"id": UUID, "email": TEXT, "role": _ROLE}
_INVITATION: dict[str, Schema] = {
    "id": UUID,
    "email": TEXT,
    "role": _ROLE,
    "invited_by": TEXT | {"description": "The address of a member, or what else invited them."},
    "created_at": TIME,
    "expires_at": TIME,
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
