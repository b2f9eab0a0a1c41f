"""What operations on links name besides links: tags, and the UTM templates of new ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import name_key
from backend.domain.ids import OrgId, TagId
from backend.domain.links.input import Changes
from backend.domain.links.links import Link
from backend.domain.links.tags import TAG_FIELDS, changed_tag_ids
from backend.domain.links.utm_templates import TEMPLATE_FIELD
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.links.tags import find_known_tags
from backend.storage.links.utm_templates import list_templates


@dataclass(frozen=True, slots=True)
class LinkNames:
    """What operations need to know of tags and templates, by organization and the keys of their names.

    These are the tags that are named or that the links have, and all templates where one is named.
    """

    tag_ids: Mapping[OrgId, Mapping[str, TagId]] = field(default_factory=dict)
    templates: Mapping[OrgId, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def changes_of(self, org_id: OrgId, has: Sequence[TagId], changes: Changes) -> Changes:
        """The changes of a link that has these tags, with `tag_ids` in the place of names of tags.

        A template is for new links: it changes nothing here. Raises InvalidField for what the organization
        does not have.
        """
        if TEMPLATE_FIELD in changes:
            self._utm_of(org_id, changes)
            changes = {name: value for name, value in changes.items() if name != TEMPLATE_FIELD}
        if TAG_FIELDS.isdisjoint(changes):
            return changes
        rest = {name: value for name, value in changes.items() if name not in TAG_FIELDS}
        return rest | {"tag_ids": changed_tag_ids(has, changes, self.tag_ids[org_id])}

    def fields_of(self, org_id: OrgId, given: Changes) -> Changes:
        """The fields of a new link, as `changes_of`; its template fills those that are not given."""
        if TEMPLATE_FIELD in given:
            given = {**self._utm_of(org_id, given), **given}
        return self.changes_of(org_id, (), given)

    def _utm_of(self, org_id: OrgId, given: Changes) -> Mapping[str, str]:
        name = given[TEMPLATE_FIELD]
        if name is None:
            return {}
        if (found := self.templates[org_id].get(name_key(name))) is None:
            raise InvalidField(TEMPLATE_FIELD, f"was not found: {name}")
        return found


async def read_link_names(
    database: Database,
    session: ClientSession | None,
    given: Iterable[tuple[OrgId, Changes]],
    links: Iterable[Link],
) -> LinkNames:
    """What operations with these fields, on these links, need to know, as of the caller's transaction."""
    named: dict[OrgId, set[str]] = {}
    filling: set[OrgId] = set()
    for org_id, fields in given:
        if present := TAG_FIELDS & fields.keys():
            named.setdefault(org_id, set()).update(name for each in present for name in fields[each] or ())
        if fields.get(TEMPLATE_FIELD) is not None:
            filling.add(org_id)
    has: dict[OrgId, set[TagId]] = {org_id: set() for org_id in named}
    for link in links:
        has.get(link.org_id, set()).update(link.tag_ids)
    tag_ids = {
        org_id: await find_known_tags(database, session, org_id, names, has[org_id])
        for org_id, names in named.items()
    }
    templates = {
        org_id: {name_key(each.name): each.utm for each in await list_templates(database, org_id, session)}
        for org_id in filling
    }
    return LinkNames(tag_ids, templates)
