"""Follows short URLs: reads a request, records the click on disk, then answers."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.startable import Monitored, SideBySide, running
from backend.domain.clicks.clicks import why_not_counted
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.limits import NO_LIMITS
from backend.domain.links.links import LinkState
from backend.domain.links.path_prefixes import Prefixes, path_prefixes
from backend.domain.web.client import ClientKind
from backend.redirector.answers import ahead, pages
from backend.redirector.answers import reports as link_reports
from backend.redirector.answers.answer import Answer, after_form, plain, send_answer
from backend.redirector.answers.association_files import ANDROID, APPLE, AssociationFiles
from backend.redirector.answers.domain_answers import FILES, DomainAnswers
from backend.redirector.answers.limited_links import LimitedLinks
from backend.redirector.answers.outcomes import answer_by_rule, answer_for, in_app_page
from backend.redirector.answers.qr_code import qr_code, split_suffix
from backend.redirector.answers.reports import LinkReports
from backend.redirector.answers.store_pages import StorePages
from backend.redirector.click_log.shipper import Shipper
from backend.redirector.decider import STOPPED, Decider
from backend.redirector.links.above import Above, above_in_memory, find_above
from backend.redirector.links.cache import LinkCache, LinkUnavailable
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.links.domains import LinkDomains
from backend.redirector.links.file_upkeep import LinkFileUpkeep
from backend.redirector.links.handoffs import Handoffs
from backend.redirector.links.loose import find_meant, loose_path_of
from backend.redirector.metrics import AnswerTallies, observe_backlog
from backend.redirector.orphans import OrphanVisits
from backend.redirector.recorder import ClickRecorder
from backend.redirector.request.arrival import Arrivals
from backend.redirector.request.visit import InvalidHost, Scope, Visit
from backend.storage.driver.lanes import Lane
from backend.storage.driver.mongo import StorageError
from backend.web.current import Resources
from backend.web.qr_codes.image import MEDIA_TYPES

_REPORT_EVERY = 1.0  # seconds
# Python 3.11 takes longer to look up a member of an enumeration than to compare it.
_WEB, _APP_PAGE, _APP_STORE = Outcome.WEB, Outcome.APP_PAGE, Outcome.APP_STORE
_NOT_ALLOWED = plain(405, "Short URLs answer GET and HEAD.\n", [(b"allow", b"GET, HEAD")])
_QR_SUFFIXES = tuple(f".qr.{kind}".encode() for kind in MEDIA_TYPES)
_NO_DOMAIN = "no link domain"
_TURNED_OFF = {LinkState.DISABLED, LinkState.ARCHIVED, LinkState.HELD}
_NO_APP = "No app is set for this domain.\n"


def _has_code(entry: CachedLink) -> bool:
    """Whether the short URL is given out as a QR code: not if the link leads nowhere."""
    return entry.link.is_enabled and not entry.link.hold


def _has_suffix(raw_path: bytes) -> bool:
    """Whether the path may ask for something about a link, which only the database knows to be there."""
    return raw_path.endswith((b"+", *_QR_SUFFIXES))


def _may_mean_link(visit: Visit, prefixes: Prefixes) -> bool:
    """Whether a link may be meant, or asked about: at the path, above it, or at one that it was made of."""
    if visit.path is not None or prefixes:
        return True
    return bool(loose_path_of(visit.raw_path.removesuffix(ahead.SUFFIX.encode())).paths)


def _with_rest(visit: Visit, above: Above | None) -> CachedLink | None:
    """The link that was found above the visit's path. The visit then knows what follows the link's path."""
    if above is None:
        return None
    entry, visit.rest = above
    return entry


class Redirector:
    """The ASGI application for all link domains."""

    def __init__(self, resources: Resources, lane: Lane) -> None:
        """`lane` is used for all database calls that visitors wait for."""
        settings = resources.settings
        self._resources = resources
        self._lane = lane
        self._clock = resources.clock
        self._proxies = resources.proxies
        self._rate_limits = resources.rate_limits
        self._in_app_browsers = resources.in_app_browsers
        self._arrivals = Arrivals(self._clock, self._proxies, resources.countries)
        self.domains = LinkDomains(resources.database)
        self._domain_answers = DomainAnswers(self.domains, lambda: resources.block_list.current)
        self.cache = LinkCache(
            resources.database,
            self._clock,
            capacity=settings.link_cache_size,
            seconds_to_live=settings.link_cache_seconds,
            on_write=resources.pulse.note_write,
            domains=self.domains,
        )
        self.orphans = OrphanVisits(resources.database)
        self._limited_links = LimitedLinks(resources, lane)
        self._reports = LinkReports(resources, self.cache)
        self._association_files = AssociationFiles(resources.database)
        self._handoffs = Handoffs(resources.database, self._clock, settings.deferred_link_seconds)
        self._store_pages = StorePages(resources, lane, self._handoffs)
        self.shipper = Shipper(
            resources.database,
            settings.clicks_dir,
            settings.unreadable_clicks_dir,
            settings.last_ship_seconds,
        )
        self._decider = Decider(resources)
        self._recorder = ClickRecorder(resources, self.shipper, self._handoffs)
        self._tallies = AnswerTallies()
        self._reporting = BackgroundTask("telling redirects and waiting clicks", self._go_on_reporting)
        self._link_file = LinkFileUpkeep(resources, self.cache, self.domains)
        self._startables: Sequence[Monitored] = (
            self._reporting,  # before the shipper, so that it reports until the last clicks are shipped
            self.shipper,
            self.cache,
            SideBySide(self.domains, self._handoffs, self._recorder.visitor_keys, self._decider.split_keys),
            self.orphans,
            self._link_file,  # behind the cache, whose links it writes when it stops
        )
        self._running = AsyncExitStack()

    async def start(self) -> None:
        """Start to follow changes of links and to ship clicks."""
        await self._link_file.fill_cache()
        await self._running.enter_async_context(running(*self._startables))

    async def stop(self) -> None:
        """Ship the remaining clicks and stop."""
        with self._lane.used(None):  # it does not wait if the database is known to be away
            await self._running.aclose()
        self.report()

    def report(self) -> None:
        """Update the metrics: answers, and the clicks of this process that wait to be shipped."""
        self._tallies.report()
        observe_backlog(self.shipper.backlog)

    @property
    def failures(self) -> list[str]:
        """A description of each background task of the redirector that is failing now."""
        return [failure for startable in self._startables for failure in startable.failures]

    async def _go_on_reporting(self) -> None:
        """Report every second: another worker may have to answer for the metrics of all."""
        while True:
            self.report()
            await asyncio.sleep(_REPORT_EVERY)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request (contract, "What the service does"; decisions, "Redirect")."""
        began = perf_counter()
        answer = await self._answer(scope, receive)
        self._tallies.observe(answer.status, perf_counter() - began)
        await send_answer(send, answer, with_body=scope["method"] != "HEAD")

    async def _answer(self, scope: Scope, receive: Any) -> Answer:
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            return _NOT_ALLOWED
        try:
            visit = Visit(scope, self.domains.by_name)
        except InvalidHost:
            return plain(400, "The Host header must name one host.\n")
        if scope["method"] == "POST":
            return await self._take_form(visit, receive)
        return await self._visit(visit)

    async def _visit(self, visit: Visit) -> Answer:
        if visit.path is not None and (entry := self.cache.current(visit.host, visit.path)):
            return await self._follow(visit, entry)
        prefixes = path_prefixes(visit.raw_path)
        if answer := self._answer_of_domain(visit, prefixes):
            return answer
        if prefixes and not _has_suffix(visit.raw_path):
            above = above_in_memory(self.cache, visit.host, visit.path, prefixes)
            if entry := _with_rest(visit, above):
                return await self._follow(visit, entry)
        try:
            with self._lane.used(self._owner_of(visit)):
                return await self._look_up(visit, prefixes)
        except (LinkUnavailable, StorageError):
            return pages.unavailable(visit)

    def _owner_of(self, visit: Visit) -> Hashable:
        """Who takes turns with others for what this visit asks MongoDB: the domain's organization.

        Hosts that are no link domains are one owner, or each made-up host would have a turn. Until it is
        known which ones are, each host is one.
        """
        if domain := visit.domain:
            return domain.org_id
        return _NO_DOMAIN if self.domains.are_read else visit.host

    def _answer_of_domain(self, visit: Visit, prefixes: Prefixes) -> Answer | None:
        """The answer where no link can be; None where one can."""
        if visit.path == "":
            return self._domain_answers.root(visit)
        if visit.path in FILES:
            return self._domain_answers.file(visit)
        return None if _may_mean_link(visit, prefixes) else self._lost(visit)

    async def _take_form(self, visit: Visit, receive: Any) -> Answer:
        """The answer to a report, or to the form that a link shows: what it leads to, if that is right."""
        prefixes = path_prefixes(visit.raw_path)
        if not _may_mean_link(visit, prefixes):
            return _NOT_ALLOWED
        try:
            with self._lane.used(self._owner_of(visit)):
                entry = await self._find(visit, prefixes)
                state = entry.link.state_at(self._clock()) if entry else None
                if entry is None or not entry.link.limits.asks_by_form or state in _TURNED_OFF:
                    is_report = visit.path == link_reports.PATH
                    return await self._reports.take(visit, receive) if is_report else _NOT_ALLOWED
                passwords = self._limited_links.passwords
                is_open = state is LinkState.ENABLED
                has_password = is_open and entry.link.limits.password_hash is not None
                if has_password and (refused := await passwords.refuse(visit, entry.link, receive)):
                    return refused
        except (LinkUnavailable, StorageError):
            return pages.unavailable(visit)
        # Who comes too late with the form gets what others get.
        answer = after_form(await self._follow(visit, entry, sent_form=is_open))
        return passwords.remember(entry.link, answer) if has_password else answer

    async def _find(self, visit: Visit, prefixes: Prefixes) -> CachedLink | None:
        """The link at a visit's path, above, or that is meant. Raises LinkUnavailable or StorageError."""
        if visit.path is not None:
            entry = self.cache.current(visit.host, visit.path)
            if entry := entry or await self.cache.load(visit.host, visit.path):
                return entry
        return await self._find_above(visit, prefixes) or await self._find_meant(visit)

    async def _find_above(
        self, visit: Visit, prefixes: Prefixes, *, in_any_case: bool = False
    ) -> CachedLink | None:
        database = self._resources.database
        above = await find_above(self.cache, database, visit.host, prefixes, in_any_case=in_any_case)
        return _with_rest(visit, above)

    async def _find_meant(self, visit: Visit) -> CachedLink | None:
        """The link that the visitor means, where none is found otherwise. Raises as `_find`."""
        if visit.path == link_reports.PATH:
            return None
        meant = await find_meant(
            self.cache,
            self._resources.database,
            visit.host,
            loose_path_of(visit.raw_path),
            visit.query,
            ignores_case=visit.settings.ignores_case,
        )
        if meant:
            entry, visit.query = meant
            return entry
        if visit.settings.ignores_case:
            return await self._find_above(visit, path_prefixes(visit.raw_path), in_any_case=True)
        return None

    async def _look_up(self, visit: Visit, prefixes: Prefixes) -> Answer:
        """The answer for a request that the cache can't answer. Raises LinkUnavailable or StorageError."""
        if visit.raw_path.endswith(b"+"):
            return await self._tell_ahead(visit.without_end(ahead.SUFFIX))
        if visit.path is not None and (answer := await self._look_up_path(visit, visit.path)):
            return answer
        if entry := await self._find_above(visit, prefixes) or await self._find_meant(visit):
            return await self._follow(visit, entry)
        if answer := await self._code_of_meant(visit):
            return answer
        meant = loose_path_of(visit.raw_path).paths
        return self._reports.form(visit) if link_reports.PATH in map(str.lower, meant) else self._lost(visit)

    async def _code_of_meant(self, visit: Visit) -> Answer | None:
        """The QR code of the link that is meant before the suffix of one; None if there is none."""
        suffix = next((suffix for suffix in _QR_SUFFIXES if visit.raw_path.endswith(suffix)), None)
        if suffix is None:
            return None
        meant = await self._find_meant(visit.without_end(suffix.decode()))
        if meant is None or meant.link.forwards_path or not _has_code(meant):
            return None
        short_url = self._resources.short_url_form.write(visit.host, meant.link.path)
        return await qr_code(short_url, suffix.decode().rpartition(".")[2])

    async def _look_up_path(self, visit: Visit, path: str) -> Answer | None:
        """What is at this path itself, or belongs to a link there; None if there is nothing."""
        if path in APPLE or path == ANDROID:
            file = await self._association_files.get((visit.host, path))
            return file.for_visitor(visit.headers) if file else plain(404, _NO_APP)
        if entry := await self.cache.load(visit.host, path):
            return await self._follow(visit, entry)
        if code := split_suffix(path):
            base, kind = code
            if (coded := await self.cache.load(visit.host, base)) and _has_code(coded):
                return await qr_code(self._resources.short_url_form.write(visit.host, base), kind)
        if path == link_reports.PATH:
            return self._reports.form(visit)
        return None

    def _lost(self, visit: Visit) -> Answer:
        """The answer at a path that no link has. What people ask for is counted for the organization."""
        if visit.domain:
            arrival = self._arrivals.of(visit)
            if self._rate_limits.keeps_uncounted_visit(arrival.address):
                self.orphans.note(visit, arrival)
        return self._domain_answers.unknown(visit)

    async def _follow(self, visit: Visit, entry: CachedLink, *, sent_form: bool = False) -> Answer:
        """Decide what the visitor gets, record the click, and return the answer."""
        arrival = self._arrivals.of(visit)
        client = arrival.client
        earlier = self._recorder.earlier_click(visit, entry, arrival) if entry.apps.has_pages else None
        decision = self._decider.decide(visit, entry, arrival, goes_on=earlier is not None)
        if decision is None:
            return pages.not_found(visit)
        entry, target, outcome = decision
        reason = why_not_counted(outcome, visit.method, visit.is_prefetch, client)
        if entry.link.limits is not NO_LIMITS and outcome not in STOPPED:
            withheld = await self._limited_links.withhold(
                visit, entry.link, outcome, reason, sent_form=sent_form
            )
            if withheld:
                if withheld.reason:
                    await self._recorder.record(withheld.outcome, withheld.reason, visit, entry, arrival)
                return withheld.answer
        if target and outcome is _WEB:
            answer, variant = answer_by_rule(visit, entry, target), target.variant
            click_id = await self._recorder.record(outcome, reason, visit, entry, arrival, variant=variant)
        else:
            click_id = earlier or await self._recorder.record(outcome, reason, visit, entry, arrival)
            page = None
            if outcome is _APP_PAGE and client.kind is ClientKind.IN_APP_BROWSER:
                browsers = self._in_app_browsers
                page = in_app_page(visit, entry, client, self._proxies, browsers, click_id=click_id)
            elif outcome is _APP_STORE and not reason:
                page = await self._store_pages.page(visit, entry, arrival)
            answer = page or answer_for(outcome, visit, entry, client, self._proxies, click_id=click_id)
        if click_id and answer.takes_click_id:
            answer.add_click_id(click_id)
        return answer

    async def _tell_ahead(self, visit: Visit) -> Answer:
        """Where a short URL leads. Nothing is recorded: nobody has gone there yet."""
        entry = await self._find(visit, path_prefixes(visit.raw_path))
        arrival = self._arrivals.of(visit)
        decision = self._decider.decide(visit, entry, arrival, goes_on=True) if entry else None
        if decision is None:
            return pages.not_found(visit)
        entry, target, outcome = decision
        return ahead.where_it_leads(visit, entry, arrival, outcome, target)
