"""JSON Schemas of members in answers."""

from __future__ import annotations

from backend.domain.accounts.roles import Role
from backend.domain.fields.rules import Schema
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


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


MEMBER_SCHEMAS: dict[str, Schema] = {
    "Member": _object(_MEMBER),
    "MemberList": _object({"members": {"type": "array", "items": reference("Member")}}),
    "MemberInvitation": _object(_INVITATION),
    "NewMemberInvitation": _object(_INVITATION | {"url": _URL}),
    "MemberInvitationList": _object(
        {"invitations": {"type": "array", "items": reference("MemberInvitation")}}
    ),
}
