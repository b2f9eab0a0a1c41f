"""JSON Schemas of link domains in answers."""

from __future__ import annotations

from backend.domain.domains.input import BRAND_FIELDS, DOMAIN_FIELDS
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference


def _or_null(schema: Schema, meaning: str) -> Schema:
    return {"anyOf": [schema, {"type": "null"}], "description": meaning}


_BRAND_MEANINGS = {
    "name": "Shown on pages, and to what fetches previews.",
    "logo_url": "The browser of whoever sees a page asks this host for the logo.",
    "favicon_url": "Browsers ask this host for the icon; /favicon.ico leads there.",
    "color": "Of buttons and links, made darker or lighter where it could not be read.",
    "background": "Of pages, on light and dark screens alike. The color of the text follows from it.",
}
_BRAND: dict[str, Schema] = {
    name: _or_null(rule.schema(), _BRAND_MEANINGS[name]) for name, rule in BRAND_FIELDS.items()
}
_DOMAIN: dict[str, Schema] = {
    "name": {"type": "string"},
    "root_url": _or_null(DOMAIN_FIELDS["root_url"].schema(), "Where / leads; null: to the error page."),
    "not_found_url": _or_null(
        DOMAIN_FIELDS["not_found_url"].schema(), "Where paths without a link lead; null: to the error page."
    ),
    "brand": {"type": "object", "required": list(_BRAND), "properties": _BRAND},
    "texts": {
        "type": "object",
        "description": "Own texts by language (en, de, fr, es) and page. Others are the service's own.",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["title", "text"],
                "properties": {"title": {"type": "string"}, "text": {"type": "string"}},
            },
        },
    },
    "robots_txt": _or_null({"type": "string"}, "The lines of /robots.txt; null: there is no such file."),
}
DOMAIN_SCHEMAS: dict[str, Schema] = {
    "Domain": {"type": "object", "required": list(_DOMAIN), "properties": _DOMAIN},
    "DomainList": {
        "type": "object",
        "required": ["domains"],
        "properties": {"domains": {"type": "array", "items": reference("Domain")}},
    },
}
