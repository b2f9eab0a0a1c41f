"""What taps on a link do, and what they would do after a change of it."""

from __future__ import annotations

from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.links.links import Behavior, Link
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link
from tests.dashboard.people import Person, heading
from tests.facts.organizations import TestOrganization


async def test_taps_and_what_a_change_does_to_them(
    person: Person, database: Database, organization: TestOrganization, link: Link
) -> None:
    """The page has each device; the form shows what would differ, and saves nothing for that."""
    none = await person.get(f"/links/{link.id}/taps")
    assert "has no app" in none.text
    await set_apps(database, organization.domain, organization.id, Apps(IosApp("A1B2C3D4E5", "com.shop.app")))
    page = await person.get(f"/links/{link.id}/taps")
    assert heading(page) == "Taps on Spring"
    assert "excludes the link" in page.text
    assert f"/links/{link.id}/taps" in (await person.get(f"/links/{link.id}")).text

    path = f"/links/{link.id}/edit"
    preview = await person.send(path, path, ios_behavior="2", link_name="Other", preview_taps="yes")
    assert preview.status_code == 200
    assert 'value="Other"' in preview.text
    assert "opens the app" in preview.text
    assert "Android" not in preview.text.partition('id="taps"')[2].partition("</section>")[0]
    assert await find_link(database, link.id, organization.id) == link
    same = await person.send(path, path, link_name="Other", preview_taps="yes")
    assert "Every tap would do the same as now" in same.text
    wrong = await person.send(path, path, destination_url="x", preview_taps="yes")
    assert wrong.status_code == 422
    await person.send(path, path, ios_behavior="2")
    stored = await find_link(database, link.id, organization.id)
    assert stored
    assert stored.ios_behavior is Behavior.APP
