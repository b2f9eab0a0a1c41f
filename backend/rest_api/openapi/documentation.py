"""The OpenAPI document and an HTML page that shows it. Both are public."""

from __future__ import annotations

import json
from typing import Any

from quart import Blueprint, Response

from backend.rest_api.openapi.described_bodies import described_bodies
from backend.rest_api.openapi.document import openapi_document
from backend.rest_api.openapi.rule_in_words import rule_in_words
from backend.rest_api.routes.blueprint import API_ROOT
from backend.web.current import resources
from backend.web.templates import render

documentation = Blueprint("documentation", __name__, url_prefix=API_ROOT, template_folder="templates")


@documentation.get("/openapi.json")
async def openapi_json() -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi_document(resources().settings.base_url + API_ROOT)


@documentation.get("/docs")
async def docs_page() -> Response:
    """The OpenAPI document as an HTML page, without scripts and without anything from other sites."""
    document = openapi_document(resources().settings.base_url + API_ROOT)
    html = await render(
        "rest_api_docs.html",
        document=document,
        as_json=_pretty,
        in_words=rule_in_words,
        bodies=described_bodies,
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return Response(html, mimetype="text/html", headers={"Content-Security-Policy": policy})


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
