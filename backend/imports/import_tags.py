"""Creates the tags that rows of a file name and the organization lacks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from backend.domain.errors import InvalidField, TooManyItems
from backend.domain.fields.item_names import NameTaken, name_key
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.tags import MOST_TAGS
from backend.imports.row import TAGS, ImportedLink
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag, list_tags


class ImportTags:
    """Creates missing tags of new links. A dry run only checks them. `made` has the names of new tags."""

    def __init__(self, database: Database, org_id: OrgId, now: datetime, *, dry_run: bool) -> None:
        self._database = database
        self._org_id = org_id
        self._now = now
        self._dry_run = dry_run
        self._tag_keys: set[str] | None = None
        self.made: list[str] = []

    async def make(self, links: Mapping[LinkId, ImportedLink]) -> dict[LinkId, Exception]:
        """Create missing tags of these links. Returns an error for each link whose tags can't be created."""
        errors: dict[LinkId, Exception] = {}
        for link_id, link in links.items():
            try:
                for name in link.new.fields.get(TAGS) or ():
                    await self._make(name)
            except InvalidField as error:
                errors[link_id] = error
        return errors

    async def _make(self, name: str) -> None:
        if self._tag_keys is None:
            self._tag_keys = {name_key(tag.name) for tag in await list_tags(self._database, self._org_id)}
        if name_key(name) in self._tag_keys:
            return
        try:
            if len(self._tag_keys) >= MOST_TAGS:
                raise TooManyItems("name", MOST_TAGS)
            if not self._dry_run:
                with suppress(NameTaken):  # another process has created it meanwhile
                    await create_tag(self._database, self._org_id, name, None, self._now)
        except TooManyItems:
            rule = f"has a new tag, {name}; the organization has {MOST_TAGS:,}, and no more are possible"
            raise InvalidField(TAGS, rule) from None
        self._tag_keys.add(name_key(name))
        self.made.append(name)
