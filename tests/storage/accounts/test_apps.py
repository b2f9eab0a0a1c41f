"""The apps of link domains, and whose they are."""

from __future__ import annotations

import pytest

from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.errors import ItemUnknown
from backend.storage.accounts.apps import find_apps, set_apps
from backend.storage.accounts.domains import set_leaving
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory

OWN, THEIRS = (Apps(IosApp("A1B2C3D4E5", f"com.shop.{name}")) for name in ("own", "theirs"))


@pytest.mark.parametrize("has_apps", [False, True])
async def test_only_the_domain_s_owner_sets_its_apps(
    database: Database, make_organization: OrganizationFactory, has_apps: bool
) -> None:
    """Who had the domain before, or asks while it is being removed, changes nothing: its visitors would be
    led into another organization's app."""
    owner, other = await make_organization(), await make_organization()
    if has_apps:
        await set_apps(database, owner.domain, owner.id, OWN)
    with pytest.raises(ItemUnknown):
        await set_apps(database, owner.domain, other.id, THEIRS)
    await set_leaving(database, owner.domain, owner.id, is_leaving=True)
    with pytest.raises(ItemUnknown):
        await set_apps(database, owner.domain, owner.id, THEIRS)
    assert await find_apps(database, owner.domain) == (OWN if has_apps else Apps())
