"""Organizations for tests, each with a domain, an origin and keys of its own: tests can share a database."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.domain.api_keys import KeyKind, key_text, new_key
from backend.domain.organizations import Organization
from backend.storage import api_keys, domains, organizations, origins
from backend.storage.mongo import Database


@dataclass(frozen=True, slots=True)
class TestOrganization:
    """An organization with one of each thing; the keys are in the clear."""

    __test__ = False

    id: str
    domain: str
    origin: str
    rest_key: str
    mobile_key: str
    web_key: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers of a REST call."""
        return {"API-KEY": self.rest_key}


async def create_test_organization(database: Database, name: str = "Acme") -> TestOrganization:
    """Store a new organization and what it needs to work."""
    now = datetime.now(UTC)
    org_id = str(uuid.uuid4())
    label = f"o{secrets.token_hex(4)}"
    await organizations.insert_organization(database, Organization(org_id, name, now))
    await domains.insert_domain(database, f"go.{label}.localhost", org_id, now)
    await origins.add_origin(database, f"https://{label}.example", org_id, now)
    keys = {kind: await _create_key(database, org_id, kind, now) for kind in KeyKind}
    return TestOrganization(
        org_id,
        f"go.{label}.localhost",
        f"https://{label}.example",
        keys[KeyKind.REST],
        keys[KeyKind.MOBILE],
        keys[KeyKind.WEB],
    )


async def _create_key(database: Database, org_id: str, kind: KeyKind, now: datetime) -> str:
    secret = secrets.token_urlsafe(24)
    key = new_key(kind, secret, key_id=str(uuid.uuid4()), org_id=org_id, now=now)
    await api_keys.insert_api_key(database, key)
    return key_text(kind, secret)
