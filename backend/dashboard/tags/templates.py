"""/templates: the UTM templates of the organization."""

from __future__ import annotations

from functools import partial
from typing import Any

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored, stored_fields
from backend.dashboard.tags.item_form import Fields, Problems, parse, sent, storing
from backend.domain.accounts.permissions import Permission
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Rule
from backend.domain.ids import TemplateId
from backend.domain.links.input import OPTIONAL
from backend.domain.links.links import UTM_FIELDS
from backend.domain.links.utm_templates import UtmTemplate
from backend.storage.links.utm_templates import (
    change_template,
    create_template,
    delete_template,
    find_template_by_id,
    list_templates,
)
from backend.web.current import resources

RULES: dict[str, Rule[Any]] = {"name": ItemName(), **{name: OPTIONAL[name] for name in UTM_FIELDS}}
_EMPTY: Fields = dict.fromkeys(RULES, "")
_read = partial(parse, rules=RULES, required=frozenset({"name"}))
_storing = partial(storing, what="template")


async def _stored(template_id: TemplateId) -> Fields:
    template = await _own_template(template_id)
    return _EMPTY | {"name": template.name} | template.utm


@dashboard.get("/templates")
@needs(Permission.LINKS_READ)
async def templates() -> Response:
    """All templates, and a form for a new one."""
    return await _page(_EMPTY, {})


@dashboard.post("/templates")
@needs(Permission.LINKS_WRITE)
@once
async def templates_add() -> Response:
    """Make a template."""
    fields, problems = sent(RULES), Problems()
    values = _read(fields, problems=problems)
    if not problems:
        name, now = values.pop("name"), resources().clock()
        with _storing(problems):
            await create_template(resources().database, org_id(), name, values, now)
    return await _page(fields, problems) if problems else redirect_with_notice("templates", "template-made")


@dashboard.get("/templates/<template_id>")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def templates_edit(template_id: TemplateId) -> Response:
    """The form with the template's fields."""
    return await _form(await _own_template(template_id), dict(stored_fields()), {})


@dashboard.post("/templates/<template_id>")
@needs(Permission.LINKS_WRITE)
@of_stored(_stored)
async def templates_change(template_id: TemplateId) -> Response:
    """Change the template; links that it filled stay as they are."""
    template, fields, problems = await _own_template(template_id), sent(RULES), Problems()
    values = _read(fields, problems=problems)
    if not problems:
        new_name = values.pop("name")
        with _storing(problems):
            await change_template(resources().database, org_id(), template.name, new_name, values)
    return (
        await _form(template, fields, problems)
        if problems
        else redirect_with_notice("templates", "template-changed")
    )


@dashboard.post("/templates/<template_id>/delete")
@needs(Permission.LINKS_WRITE)
async def templates_delete(template_id: TemplateId) -> Response:
    """Delete the template; links that it filled stay as they are."""
    template = await _own_template(template_id)
    await delete_template(resources().database, org_id(), template.name)
    return redirect_with_notice("templates", "template-deleted")


async def _own_template(template_id: TemplateId) -> UtmTemplate:
    template = await find_template_by_id(resources().database, org_id(), template_id)
    return template or abort(404)


async def _page(fields: Fields, problems: Problems) -> Response:
    stored = await list_templates(resources().database, org_id())
    status = 422 if problems else 200
    return await page("tags/templates.html", status, templates=stored, fields=fields, problems=problems)


async def _form(template: UtmTemplate, fields: Fields, problems: Problems) -> Response:
    status = 422 if problems else 200
    return await page("tags/template.html", status, item=template, fields=fields, problems=problems)
