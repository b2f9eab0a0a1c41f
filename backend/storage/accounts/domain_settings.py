"""What organizations set for their link domains, in the documents of the `domains` collection."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from typing import Any

from pymongo import ReturnDocument

from backend.domain.domains.json_form import texts_json
from backend.domain.domains.settings import (
    NO_SETTINGS,
    Brand,
    DomainSettings,
    LinkDomain,
    OwnText,
    PageLanguage,
    PageText,
    Texts,
)
from backend.domain.ids import OrgId
from backend.storage.accounts.domains import NAME
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.schema.own_documents import existing

FIELD = "settings"
_logger = logging.getLogger(__name__)


async def find_domain_settings(database: Database, org_id: OrgId, domain: str) -> DomainSettings:
    """The settings of the organization's domain. Raises ItemUnknown."""
    return from_document(existing(await database[NAME].find_one({"_id": domain, "org_id": org_id}))).settings


async def list_domain_settings(database: Database, org_id: OrgId) -> dict[str, DomainSettings]:
    """The settings of each of the organization's domains, in alphabetical order."""
    cursor = database[NAME].find({"org_id": org_id}).sort("_id", 1)
    return {document["_id"]: from_document(document).settings async for document in cursor}


async def list_link_domains(database: Database) -> AsyncIterator[tuple[str, LinkDomain | None]]:
    """The link domains of all organizations with their names; None for one that can't be read."""
    async for document in database[NAME].find({}, {"org_id": 1, FIELD: 1}):
        try:
            yield document["_id"], from_document(document)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _logger.error("The link domain %s can't be read: %s", document["_id"], error)
            yield document["_id"], None


async def find_link_domain(database: Database, domain: str) -> LinkDomain | None:
    """The link domain of this name, of any organization; None if there is none."""
    document = await database[NAME].find_one({"_id": domain}, {"org_id": 1, FIELD: 1})
    return from_document(document) if document else None


async def store_domain_settings(
    database: Database, org_id: OrgId, domain: str, fields: Mapping[str, Any]
) -> DomainSettings:
    """Change these fields, parsed by DOMAIN_FIELDS; None clears one. Of `brand`, only what is in it changes.

    Returns all settings. Raises ItemUnknown.
    """
    sets, unsets = _changes(fields)
    if not sets and not unsets:
        return await find_domain_settings(database, org_id, domain)
    changed = await database[NAME].find_one_and_update(
        {"_id": domain, "org_id": org_id},
        {name: values for name, values in (("$set", sets), ("$unset", unsets)) if values},
        return_document=ReturnDocument.AFTER,
    )
    return from_document(existing(changed)).settings


def _changes(fields: Mapping[str, Any]) -> tuple[Document, Document]:
    """The fields of documents to set, and those to remove, by their paths."""
    values: Document = {}
    for name, value in fields.items():
        if name == "brand" and value is not None:
            values |= {f"{FIELD}.brand.{part}": inner for part, inner in value.items()}
        else:
            values[f"{FIELD}.{name}"] = texts_json(value) if name == "texts" and value else value
    sets = {path: value for path, value in values.items() if not _is_default(path, value)}
    return sets, {path: 1 for path in values if path not in sets}


def _is_default(path: str, value: object) -> bool:
    """Whether the field at this path need not be stored to have this value."""
    return value in (None, {}) or value == getattr(NO_SETTINGS, path.removeprefix(f"{FIELD}."), None)


def to_plain(settings: DomainSettings) -> Document:
    """The settings as a document has them: only what is set."""
    brand = {name: value for name, value in asdict(settings.brand).items() if value is not None}
    plain = {
        "root_url": settings.root_url,
        "not_found_url": settings.not_found_url,
        "brand": brand,
        "texts": texts_json(settings.texts),
        "robots_txt": settings.robots_txt,
        "forwards_path": settings.forwards_path,
        "ignores_case": settings.ignores_case,
    }
    return {name: value for name, value in plain.items() if not _is_default(name, value)}


def from_document(document: Document) -> LinkDomain:
    """The domain in a stored document."""
    stored = document.get(FIELD)
    return LinkDomain(document["org_id"], from_plain(stored)) if stored else LinkDomain(document["org_id"])


def from_plain(plain: Document) -> DomainSettings:
    """The settings that `to_plain` wrote."""
    values = known_fields(plain, DomainSettings)
    values["brand"] = Brand(**known_fields(plain.get("brand") or {}, Brand))
    values["texts"] = _texts(plain.get("texts") or {})
    return DomainSettings(**values)


def _texts(plain: Document) -> Texts:
    return {
        PageLanguage(language): {OwnText(page): PageText(**text) for page, text in pages.items()}
        for language, pages in plain.items()
    }
