"""Rules for what an archive has of resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.all_resources import RESOURCES
from backend.domain.fields.rules import Rule, Uuid
from backend.domain.resources.resource import Resource
from backend.domain.resources.resource_field import Referent, ResourceField
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_link
from backend.storage.schema.document_fields import DocumentFields, Parse, anything, as_stored, or_none


def fields_of(resource: Resource[Any]) -> DocumentFields:
    """The fields of the resource's documents, each checked by itself, but for those that are completed."""
    return DocumentFields(
        {
            stored: _check_of(own, rule, is_completed=own.is_told and resource.completed is not None)
            for name, own in resource.fields.items()
            for stored, rule in own.stored_rules(name).items()
        }
    )


def _check_of(own: ResourceField, rule: Rule[Any], *, is_completed: bool) -> Parse:
    if is_completed:
        return anything
    return or_none(rule.parse) if own.is_clearable else rule.parse


def _check_completed(resource: Resource[Any], document: Document) -> None:
    """Raise InvalidField unless the fields are as they would be stored if they were told."""
    assert resource.completed
    told = {name: rule.parse(name, document[name]) for name, rule in resource.told.items()}
    written = resource.stored_values(resource.completed(told, None))
    for name in written:
        as_stored(name, document[name], lambda field, _: written[field])


def _rule_of(resource: Resource[Any]) -> DocumentRule:
    fields = fields_of(resource)
    links = [name for name, own in resource.fields.items() if own.refers_to is Referent.LINK]

    def check(document: Document, context: ArchiveContext) -> None:
        fields.check(document)
        as_stored("_id", document["_id"], Uuid().parse)
        if resource.completed:
            _check_completed(resource, document)
        for name in links:
            if document[name] is not None:
                own_link(document[name], context)

    return check


RULES: Mapping[str, DocumentRule] = {resource.collection: _rule_of(resource) for resource in RESOURCES}
