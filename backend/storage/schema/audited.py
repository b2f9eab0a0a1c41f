"""What the audit log says of a collection's documents. It is a part of the collection's declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Document
from backend.storage.schema.reason import Reason

# The verbs of what has no word of its own.
CREATED, CHANGED, DELETED = "created", "changed", "deleted"

# What the entry itself says, and its time.
_SAID = frozenset({"_id", "org_id", "created_at"})


class NotAudited(Reason):
    """Writes of the collection have no entries in the audit log, for the reason given."""


def _whole(document: Document, _: OrgId) -> Document:
    return document


def _always(_: Document) -> bool:
    return True


def _unbound(_: Document) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Each write of the collection has its entry in the audit log (storage/audit/recording).

    `kind` is what a document is, and with a verb the action: `key.created`. `name` is the field, or the
    function, of what people know it by. Values of `hidden` fields are never shown, and a change of `ignored`
    ones alone has no entry. `verbs` are those of a change of certain fields: the first that has changed says
    it. `part` is what an organization sees of a document, for one that belongs to several.

    `of_user` is the field with the id of the user whose document it is: the entries are about that user, in
    all of the user's organizations, or only in the one that `within` names. A document that does not `count`
    is as if it were not there.
    """

    kind: str
    name: str | Callable[[Document], str] | None = None
    hidden: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    created: str = CREATED
    deleted: str = DELETED
    verbs: Mapping[str, str] = field(default_factory=dict)
    of_user: str | None = None
    within: Callable[[Document], OrgId | None] = _unbound
    counts: Callable[[Document], bool] = _always
    part: Callable[[Document, OrgId], Document] = _whole

    def name_of(self, document: Document) -> str | None:
        """What people know the document by."""
        name = self.name(document) if callable(self.name) else document.get(self.name or "")
        return None if name is None else str(name)

    def values_of(self, document: Document, org_id: OrgId) -> Document:
        """The fields that are compared."""
        own = self.part(document, org_id)
        unsaid = self.ignored | _SAID | {self.of_user}
        return {name: value for name, value in own.items() if name not in unsaid}

    def action(self, before: object | None, after: object | None, changed: Mapping[str, Any]) -> str:
        """The action by which these fields changed; `before` is None where it is new, `after` where gone."""
        if before is None:
            return f"{self.kind}.{self.created}"
        if after is None:
            return f"{self.kind}.{self.deleted}"
        verb = next((verb for name, verb in self.verbs.items() if name in changed), CHANGED)
        return f"{self.kind}.{verb}"
