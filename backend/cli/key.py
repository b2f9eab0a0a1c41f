"""`waylink key`."""

from __future__ import annotations

from typing import Any

import click

from backend.cli.command import Result, stored, utc_now
from backend.cli.options import org_option
from backend.domain.api_keys import ApiKey, KeyKind
from backend.domain.ids import KeyId, OrgId
from backend.storage import api_keys, organizations
from backend.storage.mongo import Database


@click.group()
def key() -> None:
    """API keys: REST (servers), mobile (apps) and web (browsers)."""


@key.command("create")
@org_option
@click.option(
    "--kind", type=click.Choice([kind.value for kind in KeyKind]), required=True, help="What the key is for."
)
@stored
async def create_key(database: Database, org_id: OrgId, kind: str) -> Result:
    """Create a key and print it. It is shown only once: only its hash is stored."""
    await organizations.get_organization(database, org_id)
    text, created = await api_keys.create_api_key(database, org_id, KeyKind(kind), utc_now())
    return {"key": text, "id": created.id, "kind": kind}


@key.command("list")
@org_option
@stored
async def list_keys(database: Database, org_id: OrgId) -> Result:
    """List an organization's keys, without their secrets."""
    await organizations.get_organization(database, org_id)
    return {"keys": [_key_row(each) for each in await api_keys.list_api_keys(database, org_id)]}


@key.command("revoke")
@click.argument("key_id")
@stored
async def revoke_key(database: Database, key_id: KeyId) -> Result:
    """Revoke the key with the id KEY_ID. Within seconds, no process accepts it any more."""
    revoked = await api_keys.revoke_any_api_key(database, key_id, utc_now())
    return {"id": revoked.id, "revoked": True}


def _key_row(each: ApiKey) -> dict[str, Any]:
    return {
        "id": each.id,
        "kind": each.kind.value,
        "key": each.hint,
        "created": each.created_at.isoformat(timespec="seconds"),
        "last_used": each.last_used_at.isoformat(timespec="seconds") if each.last_used_at else None,
        "revoked": each.revoked_at.isoformat(timespec="seconds") if each.revoked_at else None,
    }
