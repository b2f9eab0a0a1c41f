"""GET /links/{id}/taps: what taps do, and what they would do with other behaviours."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.apps import Apps, IosApp
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from tests.api.whole_links import Links


async def test_taps_of_a_link(links: Links, database: Database) -> None:
    """Each situation is there, with its reasons; those that other behaviours change are marked."""
    organization = links.organization
    made = await links.make()
    await set_apps(database, organization.domain, organization.id, Apps(IosApp("A1B2C3D4E5", "com.shop.app")))
    answer = await links.call("GET", f"/{made['id']}/taps")
    assert answer.status_code == 200, answer.text
    assert answer.json()["short_url"] == made["short_url"]
    stored = _on_iphones(answer.json())
    assert [tap["effect"] for tap in stored] == ["web", "app", "web"]
    assert not any(tap["differs"] for tap in answer.json()["taps"])
    assert all(tap["why"] for tap in answer.json()["taps"])
    other = await links.call("GET", f"/{made['id']}/taps?ios_behavior=2")
    current = _on_iphones(other.json())[0]
    assert (current["effect"], current["differs"]) == ("app", True)
    assert (await links.get(made["id"]))["ios_behavior"] == 1


async def test_taps_that_are_not_told(links: Links) -> None:
    """Of a link that is not the organization's, and for a behaviour that there is none."""
    made = await links.make()
    assert (await links.call("GET", f"/{made['id']}/taps?ios_behavior=3")).status_code == 400
    other = await links.call("GET", "/5c3ae2ee-0b1f-4c3c-9b53-e4cb6f9f2f0d/taps")
    assert (other.status_code, other.json()["code"]) == (404, 103)


def _on_iphones(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The taps in messages on iPhones with the app, by the file."""
    return [
        tap
        for tap in answer["taps"]
        if (tap["device"], tap["tapped_in"], tap["has_app"]) == ("ios", "message", True)
    ]
