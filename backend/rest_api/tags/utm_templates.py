"""GET and POST /utm-templates, PATCH and DELETE /utm-templates/{name}: sets of UTM fields for new links."""

from __future__ import annotations

from functools import partial
from typing import Any

from quart import Response

from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Rule
from backend.domain.links.input import OPTIONAL
from backend.domain.links.links import UTM_FIELDS
from backend.domain.links.utm_templates import MOST_TEMPLATES
from backend.json_api import error_table
from backend.rest_api.links.representations import template_json
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.named_items import item_errors, read_item
from backend.rest_api.routes.query_string import read_query
from backend.storage.links.utm_templates import (
    change_template,
    create_template,
    delete_template,
    list_templates,
)
from backend.web.current import resources

FIELDS: dict[str, Rule[Any]] = {"name": ItemName(), **{name: OPTIONAL[name] for name in UTM_FIELDS}}
CLEARABLE = frozenset(UTM_FIELDS)
_item_errors = partial(
    item_errors, unknown=error_table.TEMPLATE_NOT_FOUND, taken=error_table.TEMPLATE_TAKEN, most=MOST_TEMPLATES
)


@rest.get("/utm-templates")
async def get_templates() -> dict[str, Any]:
    """All templates by name."""
    read_query({})
    found = await list_templates(resources().database, caller().org_id)
    return {"utm_templates": [template_json(each) for each in found]}


@rest.post("/utm-templates")
async def post_template() -> tuple[dict[str, Any], int]:
    """Make a template."""
    read_query({})
    given = await read_item(FIELDS, required=["name"], clearable=CLEARABLE)
    database, now = resources().database, resources().clock()
    with _item_errors():
        template = await create_template(database, caller().org_id, given.pop("name"), given, now)
    return template_json(template), 201


@rest.patch("/utm-templates/<path:name>")
async def patch_template(name: str) -> dict[str, Any]:
    """Give a template another name or other fields. Links that it filled stay as they are."""
    read_query({})
    given = await read_item(FIELDS, clearable=CLEARABLE)
    new_name = given.pop("name", None)
    with _item_errors():
        return template_json(
            await change_template(resources().database, caller().org_id, name, new_name, given)
        )


@rest.delete("/utm-templates/<path:name>")
async def remove_template(name: str) -> Response:
    """Delete a template. Links that it filled stay as they are."""
    read_query({})
    with _item_errors():
        await delete_template(resources().database, caller().org_id, name)
    return Response(status=204)
