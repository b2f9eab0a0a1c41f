"""The routes of the app API: each one behind a mobile SDK key."""

from __future__ import annotations

from quart import Blueprint, g

from backend.domain.api_keys import KeyKind
from backend.json_api.authentication import authenticate

app_api = Blueprint("app_api", __name__, url_prefix="/serviceCore/app/v1")


@app_api.before_request
async def _admit() -> None:
    g.api_key = await authenticate(KeyKind.MOBILE)


def calling_org_id() -> str:
    """The organization whose app sent the current request."""
    org_id: str = g.api_key.org_id
    return org_id
