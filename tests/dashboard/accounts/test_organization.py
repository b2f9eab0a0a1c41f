"""What owners decide about their organization in the settings."""

from __future__ import annotations

import pytest

from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


async def test_the_organization_is_renamed(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Every page shows the new name; an empty one is refused, and what was typed stays in the form."""
    await person.send("/settings", "/settings/name", organization_name=" Kite & Sons ")
    assert (await get_organization(database, organization.id)).name == "Kite & Sons"
    assert "Kite &amp; Sons" in (await person.get("/tags")).text
    refused = await person.send("/settings", "/settings/name", organization_name="x" * 201)
    assert (refused.status_code, "must have at most 200 characters" in refused.text) == (422, True)
    assert (await person.send("/settings", "/settings/name", organization_name="")).status_code == 422
    assert (await get_organization(database, organization.id)).name == "Kite & Sons"


async def test_how_long_it_is_kept(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Single clicks as long as rolling windows need them, the audit log for 90 days; or without limit."""
    for path, name, fewest in (
        ("/settings/click-retention", "click_days", 32),
        ("/settings/audit-retention", "audit_days", 90),
    ):
        for text, days in (("120", 120), ("", None), (str(fewest), fewest)):
            await person.send("/settings", path, **{name: text})
            assert getattr(await get_organization(database, organization.id), name) == days
        for text in (str(fewest - 1), "0", "x", "36501"):
            refused = await person.send("/settings", path, **{name: text})
            assert refused.status_code == 422
            assert f"must be a whole number from {fewest} to 36,500, or empty." in refused.text
            assert f'value="{text}"' in refused.text
        assert getattr(await get_organization(database, organization.id), name) == fewest


@pytest.mark.parametrize(("value", "is_on"), [("on", True), ("", False)])
async def test_what_a_withdrawal_does(
    person: Person, organization: TestOrganization, database: Database, value: str, is_on: bool
) -> None:
    """It erases, or it does not; the page shows which."""
    await person.send("/settings", "/settings/withdrawal", erases_on_withdrawal=value)
    assert (await get_organization(database, organization.id)).erases_on_withdrawal is is_on
    shown = (await person.get("/settings")).text
    assert ('name="erases_on_withdrawal" value="on" checked' in shown) is is_on
