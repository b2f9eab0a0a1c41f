"""Organizations for tests, each with a domain, an origin and keys of its own: tests can share a database."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import OrgId
from backend.storage.accounts import api_keys, domains, organizations, origins
from backend.storage.driver.mongo import Database
from backend.storage.driver.unrecorded import unrecorded

# Of each of which an organization has a key. Tokens of identity providers are made by tests of provisioning.
KINDS = (KeyKind.REST, KeyKind.MOBILE, KeyKind.WEB)


@dataclass(frozen=True, slots=True)
class TestOrganization:
    """An organization with one of each thing; the keys are in the clear."""

    __test__ = False

    id: OrgId
    domain: str
    origin: str
    rest_key: str
    mobile_key: str
    web_key: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers of a REST call."""
        return {"API-KEY": self.rest_key}


async def make_scoped_key(
    database: Database, organization: TestOrganization, scopes: Collection[Permission] = tuple(Permission)
) -> str:
    """A new REST key with these scopes, by default all of them: more than a key without scopes may do."""
    database = unrecorded(database)
    ordered = tuple(permission for permission in Permission if permission in scopes)
    now = datetime.now(UTC)
    text, _ = await api_keys.create_api_key(database, organization.id, KeyKind.REST, now, scopes=ordered)
    return text


async def create_test_organization(database: Database, name: str = "Acme") -> TestOrganization:
    """Store a new organization and what it needs to work. Its audit log is empty, and so is its feed."""
    database = unrecorded(database)
    now = datetime.now(UTC)
    label = f"o{secrets.token_hex(4)}"
    org_id = (await organizations.create_organization(database, name, now)).id
    # Side by side, since each waits for the journal.
    made, _, _ = await asyncio.gather(
        asyncio.gather(*(api_keys.create_api_key(database, org_id, kind, now) for kind in KINDS)),
        domains.insert_domain(database, f"go.{label}.localhost", org_id, now),
        origins.add_origin(database, f"https://{label}.example", org_id, now),
    )
    keys = {key.kind: text for text, key in made}
    return TestOrganization(
        org_id,
        f"go.{label}.localhost",
        f"https://{label}.example",
        keys[KeyKind.REST],
        keys[KeyKind.MOBILE],
        keys[KeyKind.WEB],
    )
