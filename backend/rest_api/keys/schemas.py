"""JSON Schemas of API keys in answers."""

from __future__ import annotations

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import Scopes
from backend.domain.fields.answer_schemas import TEXT, TEXTS, TIME, UUID, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_KEY: dict[str, Schema] = {
    "id": UUID,
    "kind": {"type": "string", "enum": [kind.value for kind in KeyKind]},
    "name": or_null(TEXT),
    "hint": TEXT | {"description": "The beginning and the end of the key."},
    "key": or_null(TEXT, "The key, of the browser SDK only, where it is public; null for others."),
    "scopes": or_null(Scopes().schema(), "What a REST key may do; null where it has no scopes."),
    "limited_to": or_null(
        answer_object(
            tags=or_null(TEXTS, "Tags by their names, of which links have one; null: with any tags."),
            domains=or_null(TEXTS, "Domains that links are on; null: on any."),
            links=or_null(TEXTS, "Ids of links; null: of any."),
        ),
        "The links that a REST key reaches; null for all. What is deleted stands there no more, and a list "
        "without any leaves no link.",
    ),
    "links": or_null(
        answer_object(domain=TEXT, destinations=TEXTS),
        "The links that an app makes by a mobile key: their domain, and where they may lead; null for none.",
    ),
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
