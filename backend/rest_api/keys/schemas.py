"""JSON Schemas of API keys in answers."""

from __future__ import annotations

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import Scopes
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.answer_schemas import TEXT, TIME, UUID, answer_object, or_null
from backend.rest_api.routes.operation import reference

_KEY: dict[str, Schema] = {
    "id": UUID,
    "kind": {"type": "string", "enum": [kind.value for kind in KeyKind]},
    "name": or_null(TEXT),
    "hint": TEXT | {"description": "The beginning and the end of the key."},
    "key": or_null(TEXT, "The key, of the browser SDK only, where it is public; null for others."),
    "scopes": or_null(Scopes().schema(), "What a REST key may do; null where it has no scopes."),
    "created_at": TIME,
    "last_used_at": or_null(TIME, "Exact to the day."),
    "expires_at": or_null(TIME, "From then on, the key is not valid."),
    "revoked_at": or_null(TIME),
    "replaced_by": or_null(UUID, "The key that rotated this one."),
}
_NEW: dict[str, Schema] = _KEY | {"key": TEXT | {"description": "The key. It is shown once."}}


KEY_SCHEMAS: dict[str, Schema] = {
    "ApiKey": answer_object(**_KEY),
    "NewApiKey": answer_object(**_NEW),
    "ApiKeyList": answer_object(keys={"type": "array", "items": reference("ApiKey")}),
}
