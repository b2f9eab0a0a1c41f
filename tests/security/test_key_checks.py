"""Secrets: compared in constant time, stored as hashes, random enough, and never told twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from backend.domain.accounts.api_keys import KeyKind
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.driver.mongo import Database
from backend.storage.driver.unrecorded import unrecorded
from tests.api.link_calls import API, create
from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization

BACKEND = Path(__file__).parents[2] / "backend"
SECRET = re.compile(r"(token|secret|password|digest|signature|hash)$|^(key|api_key)(_text)?$")


# Only a file with both is parsed: that takes much longer than to read it.
COMPARES = re.compile("[=!]=")
SECRET_NAME = re.compile("token|secret|password|digest|signature|hash|key")


def compared_secrets(file: Path) -> Iterator[str]:
    """Each `==` and `!=` of a file with a secret, by its name, on one of its sides."""
    text = file.read_text()
    if not (COMPARES.search(text) and SECRET_NAME.search(text)):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [node.left, *node.comparators]
            names = [getattr(side, "attr", getattr(side, "id", "")) for side in sides]
            if any(SECRET.search(name) for name in names):
                yield f"{file.relative_to(BACKEND)}:{node.lineno} {ast.unparse(node)}"


# Where a name sounds like a secret and is none, each with the reason.
HARMLESS = {
    "archives/archive_file.py": "the checksum of a file, in that file",
    "dashboard/links/sheets/sheets.py": "which table a preview was of, in its form",
    "domain/feed/changed_fields.py": "two hashes that are both stored, of a link before and after its change",
}


def test_secrets_are_compared_in_constant_time() -> None:
    """No secret stands beside == in the whole backend; hmac.compare_digest is where keys and tokens are."""
    found = [secret for file in sorted(BACKEND.rglob("*.py")) for secret in compared_secrets(file)]
    assert [comparison for comparison in found if comparison.partition(":")[0] not in HARMLESS] == []
    for name in ("domain/accounts/api_keys.py", "domain/accounts/sessions.py", "operations/metrics.py"):
        assert "hmac.compare_digest(" in (BACKEND / name).read_text()


async def test_the_database_holds_no_secret_key(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """After each kind of key was made and used, no collection holds one of servers or apps, nor its secret.

    A key of the browser SDK stands in public pages, and in its document.
    """
    await create(client, organization)
    secrets = [key[6:].encode() for key in (organization.rest_key, organization.mobile_key)]
    unread: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)
    for name in await database.list_collection_names():
        async for document in unrecorded(database).get_collection(name, codec_options=unread).find({}):
            assert not [secret for secret in secrets if secret in document.raw], name


async def test_keys_are_random(
    organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """Each key has 192 random bits behind its prefix: a hundred of them have nothing in common."""
    keys = [(await create_api_key(database, organization.id, KeyKind.REST, clock()))[0] for _ in range(100)]
    secrets = [key.removeprefix(KeyKind.REST.prefix) for key in keys]
    assert {len(secret) for secret in secrets} == {32}
    assert len({secret[start : start + 8] for secret in secrets for start in range(0, 32, 8)}) == 400


async def test_no_answer_repeats_a_key(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A key that was sent, right or wrong, comes back in no header and no body."""
    for key in (organization.rest_key, organization.web_key, "c_api_made-up-made-up-made-up"):
        for path in ("/links/page", "/nothing", "/links/page?size=x"):
            answer = await client.get(f"{API}{path}", headers={"API-KEY": key})
            assert key not in answer.text + str(answer.headers)
