"""GET and POST /utm-templates, PATCH and DELETE /utm-templates/{name}: sets of UTM fields for new links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.item_names import ItemName
from backend.domain.links.input import OPTIONAL
from backend.domain.links.links import UTM_FIELDS
from backend.json_api import error_table
from backend.rest_api.links.representations import UtmTemplateJson, template_json
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.tags.named_items import name_in_path, name_is_free
from backend.storage.links.utm_templates import (
    change_template,
    create_template,
    delete_template,
    list_templates,
)
from backend.web.current import resources

_NAME = name_in_path(error_table.TEMPLATE_NOT_FOUND)
_CHANGES = BodyFields(
    {"name": ItemName(), **{name: OPTIONAL[name] for name in UTM_FIELDS}}, clearable=frozenset(UTM_FIELDS)
)
_NEW = replace(_CHANGES, required=("name",))


@Operation(
    method="GET",
    path="/utm-templates",
    summary="List the UTM templates",
    needs=(Permission.LINKS_READ,),
    answer="UtmTemplateList",
)
async def get_templates() -> dict[str, Any]:
    """All templates by name."""
    templates = await list_templates(resources().database, caller().org_id)
    return {"utm_templates": [template_json(template) for template in templates]}


@Operation(
    method="POST",
    path="/utm-templates",
    summary="Make a UTM template",
    needs=(Permission.LINKS_WRITE,),
    body=_NEW,
    status=201,
    answer="UtmTemplate",
    errors=(error_table.TEMPLATE_TAKEN,),
)
async def post_template(fields: dict[str, Any]) -> tuple[UtmTemplateJson, int]:
    """Make a template."""
    database, now = resources().database, resources().clock()
    with name_is_free(error_table.TEMPLATE_TAKEN):
        template = await create_template(database, caller().org_id, fields.pop("name"), fields, now)
    return template_json(template), 201


@Operation(
    method="PATCH",
    path="/utm-templates/<path:name>",
    summary="Rename or change a UTM template",
    needs=(Permission.LINKS_WRITE,),
    path_parameter=_NAME,
    body=_CHANGES,
    answer="UtmTemplate",
    errors=(error_table.TEMPLATE_TAKEN,),
)
async def patch_template(name: str, fields: dict[str, Any]) -> UtmTemplateJson:
    """Give a template another name or other fields. Links that it filled stay as they are."""
    new_name = fields.pop("name", None)
    with name_is_free(error_table.TEMPLATE_TAKEN):
        return template_json(
            await change_template(resources().database, caller().org_id, name, new_name, fields)
        )


@Operation(
    method="DELETE",
    path="/utm-templates/<path:name>",
    summary="Delete a UTM template",
    needs=(Permission.LINKS_WRITE,),
    path_parameter=_NAME,
    status=204,
)
async def remove_template(name: str) -> None:
    """Delete a template. Links that it filled stay as they are."""
    await delete_template(resources().database, caller().org_id, name)
