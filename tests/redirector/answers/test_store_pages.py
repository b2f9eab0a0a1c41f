"""The page before the App Store, where no text can be kept."""

from __future__ import annotations

from backend.app import Service
from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.links.links import Behavior
from backend.redirector.answers.store_pages import StorePages
from backend.redirector.links.handoffs import Handoffs
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.recognition import recognize
from backend.redirector.request.visit import Visit
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.lanes import Lane
from tests.facts.organizations import TestOrganization
from tests.redirector.answers.test_outcomes import IPHONE
from tests.redirector.conftest import LinkFactory

APPS = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123456", clipboard_page=True))


async def test_nobody_waits_for_a_database_that_is_away(
    service: Service, make_link: LinkFactory, organization: TestOrganization
) -> None:
    """There is no page then, so that visitors are sent to the App Store at once."""
    resources = service.resources
    await set_apps(resources.database, organization.domain, organization.id, APPS)
    link = await make_link(ios_behavior=Behavior.APP)
    entry = await service.redirector.cache.load(link.domain, link.path)
    assert entry
    headers = [(b"host", link.domain.encode()), (b"user-agent", IPHONE.encode())]
    visit = Visit({"method": "GET", "path": f"/{link.path}", "query_string": b"", "headers": headers})
    arrival = Arrival(recognize(visit.user_agent), resources.clock(), "198.51.100.7", None)
    lane = Lane("test", 1, 10)
    store_pages = StorePages(resources, lane, Handoffs(resources.database, resources.clock, 3600.0))
    page = await store_pages.page(visit, entry, arrival)
    assert page
    assert page.status == 200
    lane.away()
    assert await store_pages.page(visit, entry, arrival) is None
    lane.close()
