"""Endpoints: what is stored of them, and by whom it may be changed."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.domain.errors import FieldError, InvalidField, ItemUnknown, TooManyItems
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.domain.webhooks import endpoint as rules
from backend.domain.webhooks.endpoint import EndpointState
from backend.domain.webhooks.endpoint_fields import endpoint_rules
from backend.domain.webhooks.endpoint_json import endpoint_json
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    get_endpoint,
    go_on,
    list_endpoints,
    rotate_secret,
)
from tests.facts.organizations import TestOrganization

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
URL = "https://crm.example/hooks"


def parsed(allows_loopback: bool = False, /, **fields: Any) -> dict[str, Any]:
    """The fields of a request."""
    errors: list[FieldError] = []
    values = parse_fields(endpoint_rules(allows_loopback=allows_loopback), fields, errors)
    if errors:
        raise errors[0]
    return values


async def test_an_endpoint_is_its_organizations(database: Database, organization: TestOrganization) -> None:
    """What is made is there, as it was given; to another organization it is unknown."""
    tag = await create_tag(database, organization.id, "Spring", None, NOW)
    fields = parsed(url=URL, types=["click", "lead"], form="slack", batch_size=20) | {"tag_ids": (tag.id,)}
    made = await create_endpoint(database, organization.id, fields, NOW)
    assert await list_endpoints(database, organization.id) == [made]
    assert await get_endpoint(database, organization.id, made.id) == made
    assert (made.state, made.secrets_at(NOW)) == (EndpointState.ACTIVE, [made.secret])
    assert made.secret.startswith("whsec_")
    assert made.secret not in str(endpoint_json(made, {})) + repr(made)
    assert dict(endpoint_json(made, {}, shows_secret=True))["secret"] == made.secret
    other = OrgId(str(uuid.uuid4()))
    assert await list_endpoints(database, other) == []
    for work in (get_endpoint, delete_endpoint, go_on):
        with pytest.raises(ItemUnknown):
            await work(database, other, made.id)
    with pytest.raises(ItemUnknown):
        await change_endpoint(database, other, made.id, {"is_enabled": False})
    with pytest.raises(ItemUnknown):
        await rotate_secret(database, other, made.id, NOW)
    with pytest.raises(InvalidField, match="tag_ids must be ids of a tag of the organization"):
        await create_endpoint(database, other, fields, NOW)
    changed = await change_endpoint(
        database, organization.id, made.id, parsed(is_enabled=False) | {"tag_ids": ()}
    )
    assert (changed.state, changed.tag_ids, changed.types) == (EndpointState.DISABLED, (), made.types)
    await delete_endpoint(database, organization.id, made.id)
    assert await list_endpoints(database, organization.id) == []


async def test_there_are_so_many(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An organization that has as many endpoints as it may gets no other one."""
    monkeypatch.setattr(endpoints, "_ENDPOINTS", replace(endpoints._ENDPOINTS, most=2))
    assert rules.MOST_ENDPOINTS == 50
    for _ in range(2):
        await create_endpoint(database, organization.id, {"url": URL}, NOW)
    with pytest.raises(TooManyItems):
        await create_endpoint(database, organization.id, {"url": URL}, NOW)


async def test_a_secret_is_replaced(database: Database, organization: TestOrganization) -> None:
    """Each secret goes on to sign for a day beside the one that replaced it."""
    first = await create_endpoint(database, organization.id, {"url": URL}, NOW)
    second = await rotate_secret(database, organization.id, first.id, NOW)
    assert second.secrets_at(NOW) == [second.secret, first.secret]
    later = NOW + timedelta(hours=23)
    third = await rotate_secret(database, organization.id, first.id, later)
    assert third.secrets_at(later) == [third.secret, second.secret, first.secret]
    assert third.secrets_at(NOW + timedelta(hours=24)) == [third.secret, second.secret]
    assert third.secrets_at(NOW + timedelta(days=2)) == [third.secret]


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://crm.example/", "must be an https URL"),
        ("ftp://crm.example/", "must be an absolute http or https URL"),
        ("https://me:secret@crm.example/", "must not contain a user name or password before its host"),
        ("https://crm.example/#part", "must not have a fragment (#…)"),
        ("https://crm.example:25/", "must have the port 443, or one from 1024 on"),
        ("https://10.1.2.3/", "must be a public address, not one of a private network"),
        ("https://[fd00::1]/", "must be a public address, not one of a private network"),
        ("https://169.254.169.254/", "must be a public address, not one of a private network"),
        ("http://localhost:9000/", "must be a public address, not one of this machine"),
        ("https://127.1.1.1/", "must be a public address, not one of this machine"),
        ("https://[::1]/", "must be a public address, not one of this machine"),
    ],
)
def test_where_events_may_be_sent(url: str, rule: str) -> None:
    """Public https addresses only, and the error names the rule."""
    with pytest.raises(InvalidField) as error:
        parsed(url=url)
    assert str(error.value) == f"url {rule}"


def test_a_developers_machine() -> None:
    """Where the service itself is at a loopback address, its receivers may be, also without TLS."""
    for url in ("http://localhost:9000/hook", "http://127.0.0.1:81/", "http://[::1]:9000/", URL):
        assert parsed(True, url=url) == {"url": url}
    with pytest.raises(InvalidField, match="https"):
        parsed(True, url="http://10.1.2.3/")


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("types", "click", "must be a list"),
        ("types", ["clock"], "must be one of link.created, "),
        ("link_ids", ["spring"], "must be a UUID"),
        ("batch_size", 101, "must be a whole number from 1 to 100"),
        ("batch_size", True, "must be a whole number from 1 to 100"),
        ("form", "xml", "must be one of json, slack, discord, teams"),
        ("is_enabled", 1, "must be true or false"),
    ],
)
def test_bad_fields(field: str, value: Any, rule: str) -> None:
    """An error names the field and its rule."""
    with pytest.raises(InvalidField, match=f"^{field} {rule}"):
        parsed(**{field: value})
