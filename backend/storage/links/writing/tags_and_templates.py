"""Reads the tags and the UTM templates that operations on links name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import name_key
from backend.domain.ids import OrgId, TagId
from backend.domain.links.input import Changes
from backend.domain.links.links import Link
from backend.domain.links.tags import TAG_FIELDS, changed_tag_ids
from backend.domain.links.utm_templates import TEMPLATE_FIELD
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.links.tags import find_tag_ids
from backend.storage.links.utm_templates import list_templates


@dataclass(frozen=True, slots=True)
class TagsAndTemplates:
    """The tags and templates that operations need, by organization and the keys of their names.

    An organization has the tags here that an operation names or a link has, and all of its templates
    where an operation names one.
    """

    tag_ids: Mapping[OrgId, Mapping[str, TagId]] = field(default_factory=dict)
    templates: Mapping[OrgId, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def changes_of(
        self,
        org_id: OrgId,
        current_tag_ids: Sequence[TagId],
        changes: Changes,
        reach: LinkReach | None = None,
    ) -> Changes:
        """These changes of a link with `current_tag_ids`, with `tag_ids` in the place of names of tags.

        A template fills new links only, so a change that names one has no effect. Raises InvalidField for a
        tag or template that the organization does not have. With a `reach`, there are no other tags than its
        own and those of the link, and no templates: whoever has it learns nothing of others.
        """
        if TEMPLATE_FIELD in changes:
            self._utm_of(org_id, changes, reach)
            changes = {name: value for name, value in changes.items() if name != TEMPLATE_FIELD}
        if TAG_FIELDS.isdisjoint(changes):
            return changes
        other_changes = {name: value for name, value in changes.items() if name not in TAG_FIELDS}
        tag_ids = self.tag_ids[org_id]
        if reach:
            known = {*current_tag_ids, *(reach.tags or ())}
            tag_ids = {key: tag_id for key, tag_id in tag_ids.items() if tag_id in known}
        return other_changes | {"tag_ids": changed_tag_ids(current_tag_ids, changes, tag_ids)}

    def fields_of(self, org_id: OrgId, fields: Changes, reach: LinkReach | None = None) -> Changes:
        """These fields of a new link, as `changes_of` gives them; its template fills those that are missing.

        Raises InvalidField, as `changes_of`.
        """
        if TEMPLATE_FIELD in fields:
            fields = {**self._utm_of(org_id, fields, reach), **fields}
        return self.changes_of(org_id, (), fields, reach)

    def _utm_of(self, org_id: OrgId, fields: Changes, reach: LinkReach | None) -> Mapping[str, str]:
        name = fields[TEMPLATE_FIELD]
        if name is None:
            return {}
        if reach or (utm := self.templates[org_id].get(name_key(name))) is None:
            raise InvalidField(TEMPLATE_FIELD, f"was not found: {name}")
        return utm


async def read_tags_and_templates(
    database: Database,
    session: ClientSession | None,
    requested_fields: Iterable[tuple[OrgId, Changes]],
    links: Iterable[Link],
) -> TagsAndTemplates:
    """The tags and templates that these fields name and these links have, in the caller's transaction."""
    names_by_org: dict[OrgId, set[str]] = {}
    orgs_with_templates: set[OrgId] = set()
    for org_id, fields in requested_fields:
        if tag_fields := TAG_FIELDS & fields.keys():
            names_by_org.setdefault(org_id, set()).update(
                name for field_name in tag_fields for name in fields[field_name] or ()
            )
        if fields.get(TEMPLATE_FIELD) is not None:
            orgs_with_templates.add(org_id)
    used_tag_ids: dict[OrgId, set[TagId]] = {org_id: set() for org_id in names_by_org}
    for link in links:
        used_tag_ids.get(link.org_id, set()).update(link.tag_ids)
    tag_ids = {
        org_id: await find_tag_ids(database, session, org_id, names, used_tag_ids[org_id])
        for org_id, names in names_by_org.items()
    }
    templates = {
        org_id: {
            name_key(template.name): template.utm
            for template in await list_templates(database, org_id, session)
        }
        for org_id in orgs_with_templates
    }
    return TagsAndTemplates(tag_ids, templates)
