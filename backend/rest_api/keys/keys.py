"""/keys: the organization's API keys (docs/teams.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any, TypedDict

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.key_input import (
    DEFAULT_OVERLAP_HOURS,
    KEY_FIELDS,
    KeyEnded,
    OverlapHours,
    ScopesNotGrantable,
)
from backend.domain.accounts.permissions import Permission, Scopes
from backend.domain.accounts.reach.limited_to import reach_json
from backend.domain.errors import ItemUnknown
from backend.domain.fields.rules import Uuid, Word
from backend.domain.fields.shapes import JsonForm, TimeText, UuidText, json_of
from backend.domain.ids import KeyId, TagId
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.accounts import api_keys
from backend.storage.links.tags import find_reach, find_tag_names
from backend.web.current import resources

_PATH = "/keys"
_ONE = f"{_PATH}/<key_text>"
_CHANGED = ("name", "expires_at")
_CHANGES = BodyFields({name: KEY_FIELDS[name] for name in _CHANGED}, clearable=frozenset(_CHANGED))
_ID = PathParameter("keyId", Uuid().schema(), "The key's id.", errors=(error_table.KEY_NOT_FOUND,))


@Operation(
    method="GET", path=_PATH, summary="List the API keys", needs=(Permission.KEYS_READ,), answer="ApiKeyList"
)
async def get_keys() -> dict[str, Any]:
    """All keys, the oldest first, also revoked ones. Only keys of the browser SDK, which are public, have
    their text."""
    database, org_id = resources().database, caller().org_id
    found = await api_keys.list_api_keys(database, org_id)
    tag_names = await find_tag_names(database, org_id, [key.limited_to for key in found])
    return {"keys": [_json(key, tag_names) for key in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Make an API key, and see it for once",
    needs=(Permission.KEYS_WRITE,),
    body=BodyFields({"kind": Word(KeyKind), **KEY_FIELDS}, required=("kind",)),
    status=201,
    answer="NewApiKey",
    errors=(error_table.SCOPES_NOT_GRANTED,),
)
async def post_key(fields: dict[str, Any]) -> tuple[KeyJson, int]:
    """Make a key. A REST key gets no scopes that the key of this request lacks. With `links`, an app makes
    links by a mobile key, which takes `links:write`."""
    key, database = caller(), resources().database
    if "limited_to" in fields:
        fields["limited_to"] = await find_reach(database, key.org_id, fields["limited_to"])
    with _told():
        text, made = await api_keys.make_api_key(
            database, key.org_id, fields, granted=key.permissions, now=resources().clock()
        )
    return await _shown(made) | {"key": text}, 201


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a key's name or end",
    needs=(Permission.KEYS_WRITE,),
    path_parameter=_ID,
    body=_CHANGES,
    answer="ApiKey",
    errors=(error_table.SCOPES_NOT_GRANTED,),
)
async def patch_key(key_text: str, fields: dict[str, Any]) -> KeyJson:
    """Change the fields in the body; null clears one. What a key may do stays: make another one for that."""
    key = caller()
    with _told():
        changed = await api_keys.change_api_key(
            resources().database, key.org_id, KeyId(key_text), fields,
            granted=key.permissions, now=resources().clock(),
        )  # fmt: skip
    return await _shown(changed)


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Revoke a key",
    needs=(Permission.KEYS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def revoke_key(key_text: str) -> None:
    """Revoke a key. Within seconds, no process accepts it any more."""
    with _told():
        await api_keys.revoke_api_key(
            resources().database, KeyId(key_text), caller().org_id, resources().clock()
        )


@Operation(
    method="POST",
    path=f"{_ONE}/rotate",
    summary="Replace a key by a new one, and see that for once",
    needs=(Permission.KEYS_WRITE,),
    path_parameter=_ID,
    body=BodyFields({"overlap_hours": OverlapHours()}),
    status=201,
    answer="NewApiKey",
    errors=(error_table.SCOPES_NOT_GRANTED, error_table.KEY_ENDED),
)
async def rotate_key(key_text: str, fields: dict[str, Any]) -> tuple[KeyJson, int]:
    """Make a key that may do the same. Both are valid for `overlap_hours`, 24 if it is not given."""
    key = caller()
    overlap = timedelta(hours=fields.get("overlap_hours", DEFAULT_OVERLAP_HOURS))
    with _told():
        text, made = await api_keys.rotate_api_key(
            resources().database, key.org_id, KeyId(key_text), overlap,
            granted=key.permissions, now=resources().clock(),
        )  # fmt: skip
    return await _shown(made) | {"key": text}, 201


@contextmanager
def _told() -> Iterator[None]:
    """Tell what is not there, what must not be granted, and what has ended, as the API's errors."""
    try:
        yield
    except api_keys.UnknownKey:
        raise ItemUnknown from None
    except ScopesNotGrantable:
        raise ApiError(error_table.SCOPES_NOT_GRANTED) from None
    except KeyEnded:
        raise ApiError(error_table.KEY_ENDED) from None


async def _shown(key: ApiKey) -> KeyJson:
    return _json(key, await find_tag_names(resources().database, key.org_id, [key.limited_to]))


_Scopes = Annotated[list[str], JsonForm(Scopes().schema(), list)]


class _Reach(TypedDict):
    tags: Annotated[list[str] | None, "Tags by their names, of which links have one; null: with any tags."]
    domains: Annotated[list[str] | None, "Domains that links are on; null: on any."]
    links: Annotated[list[str] | None, "Ids of links; null: of any."]


class _Grant(TypedDict):
    domain: str
    destinations: list[str]


class _Named(TypedDict):
    id: UuidText
    kind: KeyKind
    name: str | None
    hint: Annotated[str, "The beginning and the end of the key."]


class _Text(TypedDict):
    key: Annotated[str | None, "The key, of the browser SDK only, where it is public; null for others."]


class _NewText(TypedDict):
    key: Annotated[str, "The key. It is shown once."]


class _Powers(TypedDict):
    scopes: Annotated[_Scopes | None, "What a REST key may do; null where it has no scopes."]
    limited_to: Annotated[
        _Reach | None,
        "The links that a REST key reaches; null for all. What is deleted stands there no more, and a list "
        "without any leaves no link.",
    ]
    links: Annotated[
        _Grant | None,
        "The links that an app makes by a mobile key: their domain, and where they may lead; null for none.",
    ]
    created_at: TimeText
    last_used_at: Annotated[TimeText | None, "Exact to the day."]
    expires_at: Annotated[TimeText | None, "From then on, the key is not valid."]
    revoked_at: TimeText | None
    replaced_by: Annotated[UuidText | None, "The key that rotated this one."]


class KeyJson(_Named, _Text, _Powers):
    """An API key, without its secret."""


class NewKeyJson(_Named, _NewText, _Powers):
    """An API key that was just made."""


def _json(key: ApiKey, tag_names: Mapping[TagId, str]) -> KeyJson:
    return json_of(KeyJson, key, key=key.text, limited_to=reach_json(key.limited_to, tag_names))
