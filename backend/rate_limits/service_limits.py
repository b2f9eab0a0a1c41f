"""The rate limits of the APIs, from the settings (decisions, "rate-limits")."""

from __future__ import annotations

from backend.domain.ids import InstallId, OrgId
from backend.domain.web.addresses import network_of
from backend.rate_limits.address_hashes import AddressHashes
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit
from backend.rate_limits.link_password_limits import LinkPasswordLimits
from backend.rate_limits.rate_limited_counts import RateLimitedCounts
from backend.rate_limits.stepped_limit import SteppedLimit
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock

# The names of the limits, by which owners and operators are told what was refused.
REST_OF_KEY = "rest_of_key"
CALLS_OF_KEY = "calls_of_key"
CALLS_OF_ADDRESS = "calls_of_address"
INSTALLS_OF_ADDRESS = "installs_of_address"
LINKS_OF_INSTALL = "links_of_install"
WITHOUT_KEY = "without_key"
UNCOUNTED_VISITS = "uncounted_visits"
CLIPBOARD_TEXTS = "clipboard_texts"
REPORTS_OF_ADDRESS = "reports_of_address"
SHARED_REPORTS_OF_ADDRESS = "shared_reports_of_address"
_HOUR = 3600.0
_DAY = 24 * _HOUR
_REPORTS_AN_HOUR = 10
# A site may show a report in a frame to many visitors behind one address.
_SHARED_REPORTS_A_MINUTE = 600
# Private relay lets many phones share an address. Texts are stored for a day, unlike most of a click.
_CLIPBOARD_TEXTS_A_MINUTE = 120


class ServiceLimits:
    """All rate limits of the APIs.

    `rest_requests` and `calls_of_key` count by key id; `calls_of_address` and `installs` by the result of
    `address_in`; `without_key` and `shared_reports` (pages of reports that anyone may open) by network. A
    call is a call of the browser SDK or an app's open.
    """

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._hashes = AddressHashes(database)
        self.rest_requests = ExactLimit(database, Limit(REST_OF_KEY, settings.rate_limit))
        self.calls_of_key = SteppedLimit(database, Limit(CALLS_OF_KEY, settings.key_call_limit))
        self.calls_of_address = SteppedLimit(
            database, Limit(CALLS_OF_ADDRESS, settings.address_call_limit), self._hashes.hash
        )
        self.without_key = SteppedLimit(
            database, Limit(WITHOUT_KEY, settings.keyless_request_limit), self._hashes.hash
        )
        self._uncounted_visits = SteppedLimit(
            database, Limit(UNCOUNTED_VISITS, settings.uncounted_visit_limit), self._hashes.hash
        )
        self._clipboard_texts = SteppedLimit(
            database, Limit(CLIPBOARD_TEXTS, _CLIPBOARD_TEXTS_A_MINUTE), self._hashes.hash
        )
        self._installs = ExactLimit(
            database, Limit(INSTALLS_OF_ADDRESS, settings.address_install_limit, seconds=_HOUR)
        )
        self._links_of_install = ExactLimit(
            database, Limit(LINKS_OF_INSTALL, settings.install_link_limit, seconds=_DAY)
        )
        self._reports = ExactLimit(database, Limit(REPORTS_OF_ADDRESS, _REPORTS_AN_HOUR, seconds=_HOUR))
        self.shared_reports = SteppedLimit(
            database, Limit(SHARED_REPORTS_OF_ADDRESS, _SHARED_REPORTS_A_MINUTE), self._hashes.hash
        )
        self.link_passwords = LinkPasswordLimits(database, self._hashes)
        self.rate_limited_counts = RateLimitedCounts(database, clock)

    async def count_install(self, org_id: OrgId, network: str) -> float:
        """Count a new install. Returns 0, or the seconds to wait: then it must not be recorded."""
        state = await self._installs.count(await self._hashes.hash(address_in(org_id, network)))
        return 0 if state.allowed else state.reset_after

    async def count_link_of_app(self, org_id: OrgId, install_id: InstallId) -> float:
        """Count a link that an installation makes. Returns 0, or the seconds to wait: it must not be made."""
        state = await self._links_of_install.count(await self._hashes.hash(f"{org_id}\n{install_id}"))
        return 0 if state.allowed else state.reset_after

    async def count_report(self, network: str) -> float:
        """Count a report of a link. Returns 0, or the seconds to wait: then it must not be kept."""
        state = await self._reports.count(await self._hashes.hash(network))
        return 0 if state.allowed else state.reset_after

    def keeps_uncounted_visit(self, address: str) -> bool:
        """Whether to record this visit, which does not count as a click; not if its address sent too many."""
        return self._is_allowed(self._uncounted_visits, UNCOUNTED_VISITS, address)

    def gives_clipboard_text(self, address: str) -> bool:
        """Whether this visitor gets a text for the clipboard; not if the address has got too many."""
        return self._is_allowed(self._clipboard_texts, CLIPBOARD_TEXTS, address)

    def _is_allowed(self, limit: SteppedLimit, name: str, address: str) -> bool:
        """Count for this address, unless it is unknown."""
        is_allowed = limit.count(network_of(address) or address).allowed or not address
        if not is_allowed:
            self.rate_limited_counts.add(name, None)
        return is_allowed

    async def stop(self) -> None:
        """Store the remaining counts and stop."""
        for limit in (
            self.calls_of_key,
            self.calls_of_address,
            self.without_key,
            self._uncounted_visits,
            self._clipboard_texts,
            self.shared_reports,
        ):
            await limit.stop()
        await self.rate_limited_counts.stop()


def address_in(org_id: OrgId, network: str) -> str:
    """The key by which an address counts for one organization, independent of others."""
    return f"{org_id}\n{network}"
