"""The OpenAPI document and an HTML page that shows it. Both are public."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from quart import Blueprint, Response

from backend.domain.fields.rules import Schema
from backend.rest_api.openapi.document import openapi_document
from backend.rest_api.openapi.rule_in_words import rule_in_words
from backend.rest_api.routes.blueprint import API_ROOT
from backend.web.current import resources
from backend.web.templates import render


def described_bodies(body: Schema, components: Mapping[str, Schema]) -> list[tuple[str, Schema]]:
    """The object schemas of a body with their names, outermost first. An object without a name has ""."""
    objects: dict[str, Schema] = {} if "$ref" in body or "oneOf" in body else {"": body}
    names = [*_names(body)]
    while names:
        name = names.pop(0)
        if name not in objects:
            objects[name] = components[name]
            names += _names(components[name])
    return list(objects.items())


def _names(schema: object) -> Iterator[str]:
    """The names of the document's components that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for part in schema.values():
            yield from _names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _names(part)


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
