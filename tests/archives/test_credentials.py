"""Archives that owners download have nobody's credentials; those that `waylink export` writes have all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from backend.app import Service
from backend.archives.archive_file import read_header
from backend.archives.export import export_organization
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SecondFactor, recovery_hash
from backend.domain.accounts.second_factor.passkeys import Passkey
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.domain.reports.recipient import RECIPIENT_DEFAULTS, Frequency
from backend.storage.accounts.organizations import get_organization, set_requires_single_sign_on
from backend.storage.accounts.single_sign_on.settings import find_provider, set_provider
from backend.storage.accounts.users import users
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.accounts.users.second_factors import set_second_factor
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.reports.recipients import ask_recipient
from backend.storage.reports.reports import create_report
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.archives.forging import Archive, remove, restore
from tests.dashboard.people import PASSWORD, Person, browser, heading, make_user
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.polling import wait_for_async

SECRET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
CODE_HASH = recovery_hash("ABCDEFGHIJKLMNOP")
PROVIDER = IdentityProvider("https://id.shop.example", "waylink", "never shown again", ("shop.example",))
# Fields of archives that are called like secrets, and why an owner's archive has them.
HAS_IN_ALL = {
    "api_keys.key_hash": "nobody gets the key from the hash of so many random bits; programs go on",
    "webhooks.secret": "the organization's own servers check signatures by it; it opens nothing here",
    "webhooks.old_secrets": "as the secret",
    "webhooks.old_secrets.secret": "as the secret",
    "alert_rules.secret": "it only ends mails of this rule, which whoever reads it can do anyway",
    "reports.token": "shown to the organization at any time: it is the report's address",
    "reports.password_hash": "of what the organization shows, and nobody's own",
    "report_recipients.token": "it only ends mails, which an owner can do anyway",
    "links.limits.password_hash": "of what the organization shows, and nobody's own",
    "domains.settings.texts.de.password": "what the page that asks for a password says",
    "leads.email_sha256": "an address, and no credential",
    "identities.email_sha256": "an address, and no credential",
    "identities.phone_sha256": "a number, and no credential",
    "feed_entries.facts.emails_sha256": "addresses, and no credentials",
    "report_recipients.address_sha256": "an address, and no credential",
}
_LIKE_A_SECRET = re.compile(r"secret|passw|token|hash|code|factor|credential|passkey|totp|sha256")


async def make_archive(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, folder: Path
) -> Path:
    """Ask for an archive over REST as an owner's program does, and download it."""
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    asked = (await client.post(f"{API}/archives", headers=headers)).json()
    address = f"{API}/archives/{asked['id']}"

    async def read() -> dict[str, Any]:
        answer: dict[str, Any] = (await client.get(address, headers=headers)).json()
        return answer

    made = await wait_for_async(read, "it", lambda archive: archive["state"] in {"ready", "failed"})
    assert made["state"] == "ready", made
    file = folder / "owners.jsonl"
    file.write_bytes((await client.get(f"{address}/file", headers=headers)).content)
    return file


async def add_credentials(database: Database, organization: TestOrganization) -> tuple[User, list[str]]:
    """Give the organization one of each credential; gives the member, and all texts that are secret."""
    email = await make_user(database, organization.id, OrgId("another"))
    member = await users.find_user_by_email(database, email)
    assert member
    assert member.password_hash
    passkey = Passkey("Y3JlZGVudGlhbA", b"its public half", 0, "Phone", datetime(2026, 1, 1, tzinfo=UTC))
    factor = SecondFactor(SECRET, 7, (CODE_HASH,), datetime(2026, 1, 1, tzinfo=UTC), (passkey,))
    await set_second_factor(database, member, factor)
    await set_provider(database, organization.id, PROVIDER)
    await set_requires_single_sign_on(database, organization.id, is_on=True)
    report = await create_report(database, organization.id, {"name": "All", "query": {}}, utc_now())
    values = {"report_id": report.id, "address": "grace@shop.example", "frequency": Frequency.WEEKLY}
    asked = await ask_recipient(database, organization.id, {**RECIPIENT_DEFAULTS, **values}, utc_now())
    assert asked.code
    return member, [member.password_hash, SECRET, CODE_HASH, passkey.id, PROVIDER.client_secret, asked.code]


async def test_only_the_operators_archive_has_credentials(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """An owner's has the members, and no hash, secret, recovery code or passkey of theirs, and no code or
    client secret by which somebody becomes one; the operator's has them all."""
    member, secrets = await add_credentials(database, organization)
    owners = await make_archive(client, database, organization, tmp_path)
    operators = tmp_path / "operators.jsonl"
    await export_organization(database, organization.id, operators, lambda *_: None)
    text = owners.read_text()
    assert member.email in text
    assert [secret for secret in secrets if secret in text] == []
    assert [secret for secret in secrets if secret not in operators.read_text()] == []
    assert (read_header(owners).has_credentials, read_header(operators).has_credentials) == (False, True)


async def test_an_organization_from_an_owners_archive_can_be_entered(
    client: httpx.AsyncClient,
    service: Service,
    database: Database,
    organization: TestOrganization,
    tmp_path: Path,
) -> None:
    """Nobody gets in with the old password; by a link for a new one they are in, with their role, though the
    organization asked for a provider that it has no more."""
    member, _ = await add_credentials(database, organization)
    archive = Archive(await make_archive(client, database, organization, tmp_path), organization)
    await remove(database, archive)
    await restore(database, archive.file)
    restored = await users.find_user_by_email(database, member.email)
    assert restored
    assert (restored.password_hash, restored.second_factor) == (None, None)
    assert restored.roles == {organization.id: Role.OWNER}
    assert await find_provider(database, organization.id) is None
    assert not (await get_organization(database, organization.id)).requires_single_sign_on
    person = Person(browser(service), member.email)
    assert (await person.sign_in()).status_code == 422
    token = await begin_reset(database, member.id, utc_now(), LinkWay.HANDED)
    page = f"/new-password/{token}"
    assert (await person.send(page, page, password=f"a new {PASSWORD}")).status_code == 303
    assert (await person.sign_in(f"a new {PASSWORD}")).status_code == 303
    assert heading(await person.client.get("/members")) == "Members"


def named_in(name: str, value: object) -> Iterator[str]:
    """The names of a document's fields, each with those that it is in."""
    if isinstance(value, dict):
        for field, inner in value.items():
            yield f"{name}.{field}"
            yield from named_in(f"{name}.{field}", inner)
    elif isinstance(value, list):
        for inner in value:
            yield from named_in(name, inner)


async def test_every_field_called_like_a_secret_was_decided_about(archive: Archive) -> None:
    """It is withheld from owners, or named here with the reason why they have it; a new field is neither."""
    withheld = {f"{of.name}.{field}" for of in archived_collections().values() for field in of.withheld}
    fields = {name for entry in archive.entries for name in named_in(entry.collection, entry.document)}
    called_so = {name for name in fields if _LIKE_A_SECRET.search(name.rpartition(".")[2])}
    decided = tuple(f"{field}." for field in withheld | HAS_IN_ALL.keys())
    assert {name for name in called_so if not f"{name}.".startswith(decided)} == set()
    assert withheld <= fields
