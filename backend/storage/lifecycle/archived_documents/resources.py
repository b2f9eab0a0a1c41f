"""Rules for what an archive has of resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.all_resources import RESOURCES
from backend.domain.fields.rules import Uuid
from backend.domain.resources.resource import Resource
from backend.domain.resources.resource_field import Referent
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_link
from backend.storage.schema.document_fields import DocumentFields, as_stored, or_none


def fields_of(resource: Resource[Any]) -> DocumentFields:
    """The fields of the resource's documents."""
    return DocumentFields(
        {
            stored: or_none(rule.parse) if own.is_clearable else rule.parse
            for name, own in resource.fields.items()
            for stored, rule in own.stored_rules(name).items()
        }
    )


def _rule_of(resource: Resource[Any]) -> DocumentRule:
    fields = fields_of(resource)
    links = [name for name, own in resource.fields.items() if own.refers_to is Referent.LINK]

    def check(document: Document, context: ArchiveContext) -> None:
        fields.check(document)
        as_stored("_id", document["_id"], Uuid().parse)
        for name in links:
            if document[name] is not None:
                own_link(document[name], context)

    return check


RULES: Mapping[str, DocumentRule] = {resource.collection: _rule_of(resource) for resource in RESOURCES}
