"""POST /links/{id}/preview: social fields from the page that a link leads to."""

from __future__ import annotations

import asyncio
import threading

import pytest

from backend.app import Service
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.polling import until
from tests.processes.far_site import Handler, Site

PAGE = (
    "<title>Kites</title><meta name=description content='For all winds'>"
    "<meta property=og:image content=/k.png>"
)


@pytest.fixture
def _intranet(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service may read pages of this machine."""
    monkeypatch.setattr(service.resources.pages._network, "_allows_private", True)


@pytest.mark.usefixtures("_intranet")
async def test_what_a_link_lacks_is_filled_in(links: Links, site: Site) -> None:
    """Fields that are set stay; where none is missing, the page is not asked."""
    made = await links.make(destination_url=site.page("/", PAGE), social_title="Mine")
    answer = await links.call("POST", f"/{made['id']}/preview")
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert shown["social_title"] == "Mine"
    assert shown["social_description"] == "For all winds"
    assert shown["social_image_url"] == site.url("/k.png")
    assert await links.get(made["id"]) == shown
    assert (await links.call("POST", f"/{made['id']}/preview")).json() == shown
    assert site.asked == ["GET /"]


@pytest.mark.usefixtures("_intranet")
async def test_what_is_set_meanwhile_stays(links: Links, site: Site) -> None:
    """A page may take seconds; a field that somebody sets until it is read is not lacking any more."""
    made = await links.make(destination_url=site.page("/", PAGE))
    answer, is_set = site.answers["/"], threading.Event()

    def slowly(handler: Handler) -> None:
        is_set.wait(20)
        answer(handler)

    site.answers["/"] = slowly
    filling = asyncio.create_task(links.call("POST", f"/{made['id']}/preview"))
    try:
        await until(lambda: bool(site.asked), "the page is not read")
        await links.call("PATCH", f"/{made['id']}", {"social_title": "Mine"})
    finally:
        is_set.set()
    shown = (await filling).json()
    assert (shown["social_title"], shown["social_description"]) == ("Mine", "For all winds")


@pytest.mark.usefixtures("_intranet")
async def test_a_page_that_can_t_be_read(links: Links, site: Site) -> None:
    """It is told why, and the link stays as it is."""
    made = await links.make(destination_url=site.url("/gone"))
    answer = await links.call("POST", f"/{made['id']}/preview")
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (422, "destination_url")
    said = "destination_url can't be read: it answers with status 404"
    assert answer.json()["error"]["errorMessage"] == said
    assert await links.get(made["id"]) == made


async def test_nothing_private_and_nobody_else_s(
    links: Links, site: Site, make_organization: OrganizationFactory
) -> None:
    """Without the setting no page of this network is read; another organization's link is not found."""
    made = await links.make(destination_url=site.page("/", PAGE))
    refused = await links.call("POST", f"/{made['id']}/preview")
    assert "is not in the public internet" in refused.json()["error"]["errorMessage"]
    others = Links(links.client, await make_organization())
    assert (await others.call("POST", f"/{made['id']}/preview")).status_code == 404
    assert site.asked == []
