"""The organization of `make run`: created on the first run and used again on later ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backend.domain.accounts.api_keys import KeyKind, hash_key
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.links.input import NewLink
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import ChangeLink, CreateLink, LinkOperation, LinkRequest
from backend.settings import Settings
from backend.storage.accounts import api_keys, domains, organizations, origins
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import store_link
from demo_site.demo_user import DemoUser, prepare_user

NAME = "Waylink demo"
DOMAIN = "go.demo.localhost"
PATH = "spring"
_KINDS = (KeyKind.REST, KeyKind.MOBILE, KeyKind.WEB)
# Install analytics need a subscription; that of the demo lasts long enough.
SUBSCRIBED_UNTIL = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo's organization, keys, link and user, as the demo prints them at its start."""

    org_id: OrgId
    keys: Mapping[KeyKind, str]
    domain: str
    path: str
    user: DemoUser


async def prepare_demo(database: Database, settings: Settings, now: datetime) -> Demo:
    """Create those parts of the demo organization that do not exist yet."""
    organization = await _organization(database, now)
    await organizations.set_subscription(database, organization.id, SUBSCRIBED_UNTIL)
    await domains.insert_domain(database, DOMAIN, organization.id, now)
    for origin in demo_origins(settings):
        await origins.add_origin(database, origin, organization.id, now)
    await _link(database, organization.id, demo_address(settings), now)
    keys = await _keys(database, settings.data_dir / "demo-keys.json", organization.id, now)
    user = await prepare_user(database, settings.data_dir / "demo-password.txt", organization.id, now)
    return Demo(organization.id, keys, DOMAIN, PATH, user)


def demo_address(settings: Settings) -> str:
    """The address at which to open the demo shop."""
    return f"http://localhost:{settings.demo_port}"


def demo_origins(settings: Settings) -> list[str]:
    """The origins that browsers send for the demo shop."""
    return [f"http://{host}:{settings.demo_port}" for host in ("localhost", "127.0.0.1")]


async def _organization(database: Database, now: datetime) -> Organization:
    organization = await organizations.find_organization_by_name(database, NAME)
    if organization:
        return organization
    return await organizations.create_organization(database, NAME, now)


async def _link(database: Database, org_id: OrgId, shop: str, now: datetime) -> None:
    """Create the demo link. If it exists but the shop's port has changed, update its destination."""
    existing = await links.find_link_at(database, DOMAIN, PATH, org_id)
    if existing is None:
        await _store(database, org_id, CreateLink(_spring_link(shop)), now)
    elif existing.destination_url != f"{shop}/":
        await _store(database, org_id, ChangeLink(existing.id, {"destination_url": f"{shop}/"}), now)


async def _store(database: Database, org_id: OrgId, operation: LinkOperation, now: datetime) -> None:
    request = LinkRequest(org_id, CreatedBy.REST, now, operation)
    await store_link(database, request, DestinationPolicies(database))


def _spring_link(shop: str) -> NewLink:
    fields = {
        "destination_url": f"{shop}/",
        "link_name": "Spring campaign",
        "utm_source": "newsletter",
        "utm_medium": "email",
        "utm_campaign": "spring",
        "social_title": "Spring has arrived",
        "social_description": "See what is new this season.",
    }
    return NewLink(DOMAIN, PATH, fields)


async def _keys(database: Database, file: Path, org_id: OrgId, now: datetime) -> dict[KeyKind, str]:
    """The text of the demo's keys.

    They are kept in a private file, since the database has only their hashes.
    """
    kept = _read_keys(file)
    keys = {kind: kept.get(kind.value, "") for kind in _KINDS}
    for kind, key in keys.items():
        if not key or await api_keys.find_active_key(database, hash_key(key), now) is None:
            keys[kind], _ = await api_keys.create_api_key(database, org_id, kind, now)
    _write_keys(file, keys)
    return keys


def _read_keys(file: Path) -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return kept


def _write_keys(file: Path, keys: Mapping[KeyKind, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(json.dumps({kind.value: key for kind, key in keys.items()}, indent=2))
