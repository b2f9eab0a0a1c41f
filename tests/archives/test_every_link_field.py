"""A link with a value in every field that a link can have, exported, restored and compared.

The check of an archive refuses a link that is not in the form in which it is stored, and fields that it does
not know. So a field that is forgotten there makes every archive with such a link impossible to restore.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from backend.domain.ids import LinkId
from backend.domain.links.input import NEW_LINK_FIELDS
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Link
from backend.domain.links.utm_templates import TEMPLATE_FIELD
from backend.storage.driver.mongo import Database, Document
from backend.storage.links import links
from backend.storage.links.writing.holds import hold_link
from tests.archives.forging import restore
from tests.archives.test_archive import export
from tests.facts.organizations import TestOrganization
from tests.fresh_database import fresh_database

API = "/serviceCore/pa/v1"
# A value for each field of a new link, but for the domain and the template, which only fills UTM fields.
GIVEN: dict[str, Any] = {
    "selected_path": "every/field",
    "destination_url": "https://shop.example/all/{path}?ref={query.ref}",
    "link_name": "All",
    "ios_behavior": 2,
    "android_behavior": 2,
    "utm_source": "mail",
    "utm_medium": "newsletter",
    "utm_campaign": "spring",
    "utm_term": "kites",
    "utm_content": "top",
    "social_title": "Kites",
    "social_description": "Red ones\nand blue ones",
    "social_image_url": "https://shop.example/kite.png",
    "ios_fallback_url": "https://shop.example/ios",
    "android_fallback_url": "https://shop.example/android",
    "desktop_url": "https://shop.example/desktop",
    "custom_data": {"sku": 7},
    "external_id": "sku-7",
    "tags": ["Kites"],
    "rules": [{"if": {"country": ["DE"]}, "then": {"destination_url": "https://shop.example/de"}}],
    "forwards_path": True,
    "forwards_query": ["ref"],
    "adds_link_id": False,
    "query_precedence": "visitor",
    "is_enabled": True,
    "starts_at": "2026-01-01T00:00:00Z",
    "expires_at": "2100-01-01T00:00:00Z",
    "max_clicks": 5,
    "click_to_continue": True,
    "expired_url": "https://shop.example/over",
    "password": "red kites",
}
IMPORTED = {"count": 7, "source": "Bitly", "imported_at": datetime(2026, 1, 2, tzinfo=UTC)}


async def make_link(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> LinkId:
    """A link with everything: what REST takes, then what other ways add to a link. Gives its id."""
    tag = await client.post(
        f"{API}/tags", json={"name": "Kites", "color": "red"}, headers=organization.headers
    )
    assert tag.status_code == 201, tag.text
    body = GIVEN | {"domain": organization.domain}
    made = await client.post(f"{API}/links", json=body, headers=organization.headers)
    assert made.status_code == 201, made.text
    link_id = LinkId(made.json()["id"])
    changed = await client.patch(
        f"{API}/links/{link_id}", json={"is_archived": True}, headers=organization.headers
    )
    assert changed.status_code == 200, changed.text
    await hold_link(database, link_id, "It sells what it does not have.", datetime.now(UTC))
    added = {"imported_clicks": IMPORTED, "limits.is_used_up": True}
    await database[links.NAME].update_one({"_id": link_id}, {"$set": added})
    return link_id


def is_given(value: object, field: Field[Any]) -> bool:
    """Whether a field of a record has a value of its own, and not the one that it has by default."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(value != default)


def not_given(record: Link | LinkLimits) -> list[str]:
    """The fields of a record that have their default."""
    return [item.name for item in fields(record) if not is_given(getattr(record, item.name), item)]


async def stored_link(database: Database, link_id: LinkId) -> Document:
    """The document of the link."""
    document: Document | None = await database[links.NAME].find_one({"_id": link_id})
    assert document
    return document


def test_each_field_of_a_new_link_has_a_value_here() -> None:
    """Who adds a field to links gives it a value in `GIVEN`, so that the next test has it."""
    assert GIVEN.keys() == NEW_LINK_FIELDS.keys() - {"domain", TEMPLATE_FIELD}


async def test_every_field_of_a_link_survives_an_archive(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A link with a value in every field is restored from its archive as it was stored."""
    link_id = await make_link(client, database, organization)
    before = await stored_link(database, link_id)
    link = links.from_document(before)
    # An archived link is not enabled; that it was is in `was_enabled`. REST made it, as is the default.
    assert set(not_given(link)) == {"created_by"}
    assert not_given(link.limits) == []
    file = tmp_path / "organization.jsonl"
    await export(database, organization.id, file)
    async with fresh_database(database) as elsewhere:
        await restore(elsewhere, file)
        assert await stored_link(elsewhere, link_id) == before
