"""The page before the App Store, with a text that one installation of the app can redeem."""

from __future__ import annotations

import secrets

from backend.domain.apps import clipboard_texts
from backend.domain.apps.clipboard_texts import ClipboardText
from backend.domain.apps.deferred_links import candidate_id
from backend.domain.links.destinations.destination import Outcome
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.links.handoffs import Handoffs
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.visit import Visit
from backend.storage.apps.clipboard_texts import add_text
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.lanes import Lane
from backend.storage.driver.mongo import StorageError
from backend.web.current import Resources

_STORE_SECONDS = 2.0  # that a visitor waits for a slow database; one that is away is not waited for


class StorePages:
    """Gives each visitor a page with a text of its own. Visitors wait in `lane` for the database."""

    def __init__(self, resources: Resources, lane: Lane, handoffs: Handoffs) -> None:
        self._resources = resources
        self._lane = lane
        self._handoffs = handoffs

    async def page(self, visit: Visit, entry: CachedLink, arrival: Arrival) -> Answer | None:
        """The page for a visitor who is led to the App Store, where the domain asks for it.

        None if the domain does not, and if no text can be kept: then the App Store is the answer.
        """
        ios = entry.apps.ios
        if ios is None or not ios.clipboard_page or not ios.store_url:
            return None
        if not self._resources.rate_limits.gives_clipboard_text(arrival.address):
            return None
        link = entry.link
        short_url = self._resources.short_url_form.write(link.domain, link.path)
        copied = clipboard_texts.write_text(short_url, secrets.token_bytes(clipboard_texts.TOKEN_BYTES))
        try:
            with self._lane.used(link.org_id), deadline(_STORE_SECONDS):
                await add_text(self._resources.database, self._kept(copied, ios.bundle_id, entry, arrival))
        except StorageError:
            return None
        return pages.store_page(visit, link, ios.store_url, copied)

    def _kept(self, copied: str, app_id: str, entry: CachedLink, arrival: Arrival) -> ClipboardText:
        link, platform = entry.link, arrival.client.platform
        handoff = self._handoffs.handoff(Outcome.APP_STORE, None, entry, arrival)
        text_id = clipboard_texts.id_of_text(copied)
        assert text_id is not None
        return ClipboardText(
            id=text_id,
            org_id=link.org_id,
            app_id=app_id,
            link_id=link.id,
            candidate_id=(
                candidate_id(link.org_id, handoff.app_id, platform, handoff.address_hash, link.id)
                if handoff
                else None
            ),
            expires_at=arrival.at + clipboard_texts.KEPT,
        )
