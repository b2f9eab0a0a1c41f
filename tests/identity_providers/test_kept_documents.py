"""What is kept of providers' documents: as many as fit, however long they are."""

from __future__ import annotations

from joserfc.jwk import ECKey, KeySet

from backend.domain.accounts.single_sign_on.metadata import ProviderMetadata
from backend.identity_providers.identity_providers import IdentityProviders


async def test_long_documents_leave_room_for_fewer() -> None:
    """An organization that names provider after provider fills no memory by what these say of themselves."""
    providers = IdentityProviders(allows_private=False, allows_loopback=False)
    long = "x" * 200_000
    keys = KeySet([ECKey.generate_key(parameters={"kid": long})])
    for number in range(200):
        address = f"https://{number}.provider.example"
        providers._metadata[address] = ProviderMetadata(address, address, long, address, (), "", ())
        providers._keys[address] = keys
    for kept in (providers._metadata, providers._keys):
        assert 50 < len(kept) < 100
    await providers.close()
