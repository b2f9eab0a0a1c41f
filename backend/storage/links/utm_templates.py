"""The `utm_templates` collection: named sets of UTM fields, which fill new links of an organization."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime

from backend.domain.ids import OrgId, TemplateId
from backend.domain.links.utm_templates import MOST_TEMPLATES, UtmTemplate, changed_utm
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.links.named_items import NamedItems, items_collection

NAME = "utm_templates"
COLLECTION = items_collection(NAME, "utm_template")
_TEMPLATES = NamedItems(NAME, UtmTemplate, MOST_TEMPLATES)


async def create_template(
    database: Database, org_id: OrgId, name: str, utm: Mapping[str, str | None], now: datetime
) -> UtmTemplate:
    """Store a new template. Raises NameTaken and TooManyItems."""
    template_id = TemplateId(str(uuid.uuid4()))
    template = UtmTemplate(template_id, org_id, name, changed_utm({}, utm), now.replace(microsecond=0))
    await _TEMPLATES.add(database, template)
    return template


async def list_templates(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> list[UtmTemplate]:
    """All templates of the organization, by name."""
    return await _TEMPLATES.all_of(database, org_id, session)


async def find_template_by_id(
    database: Database, org_id: OrgId, template_id: TemplateId
) -> UtmTemplate | None:
    """The organization's template with this id; None if it has none."""
    return next(iter(await _TEMPLATES.with_ids(database, org_id, [template_id])), None)


async def change_template(
    database: Database, org_id: OrgId, name: str, new_name: str | None, utm: Mapping[str, str | None]
) -> UtmTemplate:
    """Give the template another name, or set and clear (None) some of its fields.

    Links that it filled stay as they are. Raises ItemUnknown and NameTaken.
    """
    changes: Document = {} if new_name is None else {"name": new_name}
    changes |= {f"utm.{field}": value for field, value in utm.items() if value is not None}
    cleared = {f"utm.{field}": "" for field, value in utm.items() if value is None}
    return await _TEMPLATES.change(database, org_id, name, changes, cleared)


async def delete_template(database: Database, org_id: OrgId, name: str) -> None:
    """Delete the template. Links that it filled stay as they are. Raises ItemUnknown."""
    await _TEMPLATES.delete(database, org_id, name)
