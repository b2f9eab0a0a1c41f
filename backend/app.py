"""Puts the ASGI application together."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

from quart import Quart

from backend.alert_watch.watch import AlertWatch
from backend.app_api import AppService, app_api
from backend.archives.making import ArchiveMaking
from backend.concurrency.startable import Startable, running
from backend.dashboard import answer_browsers, attach_dashboard_services, dashboard, shared
from backend.destination_watch.watch import DestinationWatch
from backend.environment import load_settings
from backend.json_api.error_handlers import answer_errors, answer_http_error
from backend.json_api.lazy_rule import LazyRule
from backend.mail.alert_mails import alert_mail
from backend.mail.delivery import MailDelivery
from backend.mail.organization_mails import archive_mail
from backend.mail.report_mails import ReportMailResources, ReportMails
from backend.mail.server import mail_server_of
from backend.operations.blueprint import operations
from backend.operations.failing_items import items_that_fail
from backend.operations.figures import troubles_of_files
from backend.operations.health import STOPPING, not_ready_while
from backend.operations.logs import configure_logs
from backend.operations.metrics import update_before_scrape
from backend.operations.observation import ObservedRoute, observe
from backend.operations.tls import tls
from backend.redirector.follow import Redirector
from backend.redirector.links.file import path_in
from backend.redirector.request.recognition import recognize
from backend.rest_api import CREATION_PATHS, CreationRoute, documentation, rest
from backend.rest_api.links.service import LinkService
from backend.rest_api.routes.link_text import LinkText
from backend.rest_api.sales.service import SalesService
from backend.scim_api import or_in_scim, scim
from backend.sdk_api import BatchRoute, SdkService, sdk
from backend.sdk_api.prefixes import SdkPrefixes
from backend.sdk_api.script import script
from backend.settings import Settings
from backend.storage.alerts.firing import AlertChannels
from backend.storage.analytics.hello import source_digest
from backend.storage.analytics.messages import folder_in
from backend.storage.analytics.upkeep import analytics_upkeep
from backend.storage.clicks.expired_days import expired_days
from backend.storage.clicks.merges import click_merges
from backend.storage.database import SERVICE_SECONDS, Indexes, open_database
from backend.storage.driver.lanes import Lane
from backend.storage.driver.mongo import Database
from backend.storage.driver.pulse import Pulse
from backend.storage.ledger.statement_signing import statement_signing
from backend.storage.lifecycle.organization_deletion import finishing_deletions
from backend.storage.lifecycle.privacy.privacy import finishing_erasures
from backend.storage.outbox.aging import feed_aging
from backend.storage.outbox.sequencer import Sequencer
from backend.system.clock import Clock, utc_now
from backend.system.interpreter import set_up_interpreter
from backend.web.api_host import ApiHost
from backend.web.country import load_table
from backend.web.current import Resources, attach, handling
from backend.web.templates import PromptTemplates
from backend.webhooks.delivery import WebhookDelivery
from backend.webhooks.sender import SenderResources

Scope = MutableMapping[str, Any]


def prepare(settings: Settings) -> None:
    """Read and compile the lists of clients and countries, which takes a while, before the first visit.

    Note which source this is, too, before files are replaced. What is made is kept, and forks of the process
    have it.
    """
    source_digest()
    recognize(b"")
    if settings.mmdb is None:
        load_table()


def create_app(settings: Settings | None = None, clock: Clock = utc_now) -> Service:
    """The ASGI application for these settings.

    None reads them from the environment, and takes the process for the service's own, with its logs and its
    interpreter. That is for servers other than `waylink serve`, which start one application.

    When the ASGI server starts it, it opens its database (and starts a MongoDB server if none is configured).
    When the server stops, it closes what it opened.
    """
    if settings is None:
        settings = load_settings()
        configure_logs(settings.log_level)
        set_up_interpreter()
    return Service(settings, clock)


class Service:
    """Sends each request to the API or to the redirector, depending on its host name."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.resources: Resources
        self.api: Quart
        self.redirector: Redirector
        self._clock = clock
        self._api_host = ApiHost(settings.base_url)
        self._creations = {path: ObservedRoute(CreationRoute(path), path) for path in CREATION_PATHS}
        self._opened = AsyncExitStack()
        # Redirects use it only for links that are not cached, and never wait behind other requests.
        self._requests = Lane("requests", 24, 2_000)
        self._redirects = Lane("redirects", 16, 1_000)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif scope["type"] != "http":  # nobody here speaks WebSocket
            await send({"type": "websocket.close", "code": 1000})
        elif self._is_for_api(scope):
            # The sender's, until its key or its session says whose request it is.
            sender = self.resources.proxies.visitor_network(scope)
            with self._requests.used(sender), handling(self.api, scope):
                await self._prefixes(scope, receive, send)
        else:
            await self.redirector(scope, receive, send)

    async def _answer_api(self, scope: Scope, receive: Any, send: Any) -> None:
        await self._api_app(scope)(scope, receive, send)

    def _api_app(self, scope: Scope) -> Any:
        """What answers this request: the framework's application, or a route of our own beside it."""
        if scope["path"] == BatchRoute.PATH:
            return self._batches
        # The framework finds its routes behind any number of slashes.
        path = "/" + scope["path"].lstrip("/")
        if scope["method"] == "POST" and (creation := self._creations.get(path)):
            return creation
        return self.api

    def _is_for_api(self, scope: Scope) -> bool:
        for name, value in scope["headers"]:
            if name == b"host":
                return self._api_host.owns_request(value)
        return self._api_host.owns_request(b"")

    async def startup(self) -> None:
        """Open everything that requests need."""
        prepare(self.settings)
        lanes = [self._requests, self._redirects]
        for lane in lanes:
            self._opened.callback(lane.close)
        database = await self._open_database()
        pulse = await self._opened.enter_async_context(Pulse(database, lanes))
        self.resources = Resources(self.settings, database, pulse, self._clock)
        await self._opened.enter_async_context(self.resources.running())
        self._make_routes()
        update_before_scrape(self.api, self.redirector.report)
        folder = folder_in(self.settings.data_dir)
        update_before_scrape(self.api, troubles_of_files(folder, self._clock))
        update_before_scrape(self.api, items_that_fail(database))
        not_ready_while(self.api, self._failures)
        await self._opened.enter_async_context(running(*self._background_work(), self.redirector))
        await self.api.startup()
        self._opened.push_async_callback(self.api.shutdown)

    def _failures(self) -> list[str]:
        """A description of each failing work without which requests are not answered as they should be."""
        resources = self.resources
        return [*resources.pulse.failures, *resources.block_list.failures, *self.redirector.failures]

    async def _open_database(self) -> Database:
        # At a first start more is amiss than that it is away, such as a wrong address.
        may_be_away = path_in(self.settings.data_dir).exists()
        opening = open_database(self.settings, Indexes.MAKE, SERVICE_SECONDS, may_be_away=may_be_away)
        return await self._opened.enter_async_context(opening)

    def _make_routes(self) -> None:
        sdk_service = SdkService(self.resources)
        self.api = create_api(self.resources, sdk_service)
        self._batches = ObservedRoute(BatchRoute(sdk_service), BatchRoute.PATH)
        self._prefixes = SdkPrefixes(self.api, self.settings.sdk_prefixes, self._answer_api)
        self.redirector = Redirector(self.resources, self._redirects)

    def _background_work(self) -> Sequence[Startable]:
        """What goes on beside requests, in the order in which it is started."""
        resources, clock = self.resources, self._clock
        database, hours = resources.database, self.settings.check_destinations_hours
        sender_resources = SenderResources(
            database, resources.feed, resources.receivers, clock, resources.short_url_form
        )
        make_mail = partial(alert_mail, self.settings.base_url) if self.settings.sends_mail else None
        channels = AlertChannels(resources.short_url_form, make_mail)
        kept = timedelta(days=self.settings.archive_days)
        tell_of_archive = partial(archive_mail, self.settings.base_url) if make_mail else None
        return (
            finishing_deletions(database),
            finishing_erasures(database),
            DestinationWatch(database, resources.checked_pages, clock, hours),
            Sequencer(database),
            feed_aging(database),
            click_merges(database),
            expired_days(database),
            statement_signing(database),
            analytics_upkeep(database, resources.analytics, clock),
            WebhookDelivery(sender_resources),
            ArchiveMaking(database, clock, kept, tell_of_archive),
            AlertWatch(database, resources.analytics, channels, clock),
            *self._mail_work(),
        )

    def _mail_work(self) -> Sequence[Startable]:
        """What sends mails, and makes those that are due at some time; nothing without a mail server."""
        server = mail_server_of(self.settings)
        if server is None:
            return ()
        database, analytics = self.resources.database, self.resources.analytics
        mails = ReportMailResources(database, analytics, self.settings, self._clock)
        return MailDelivery(database, server, self._clock), ReportMails(mails)

    async def _let_go(self, stopping: asyncio.Event) -> None:
        """Let go of who waits for events once the server begins to stop."""
        await stopping.wait()
        await self.resources.feed.end_waits()

    async def shutdown(self) -> None:
        """Close what `startup` opened, in reverse order."""
        await self._opened.aclose()

    async def _lifespan(self, scope: Scope, receive: Any, send: Any) -> None:
        await receive()
        try:
            await self.startup()
            if stopping := scope.get("state", {}).get(STOPPING):
                self._opened.callback(asyncio.create_task(self._let_go(stopping)).cancel)
        except Exception as error:
            await self.shutdown()
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.shutdown()
        await send({"type": "lifespan.shutdown.complete"})


def create_api(resources: Resources, sdk_service: SdkService) -> Quart:
    """The Quart application of the API host, for everything but batches of the browser SDK."""
    api = Quart("backend", static_folder=None)  # each part that has files has a route of its own
    api.jinja_environment = PromptTemplates
    attach(
        api, resources, sdk_service, LinkService(resources), SalesService(resources), AppService(resources)
    )
    api.url_rule_class = LazyRule
    # A double slash is an unknown path like any other, not a redirect.
    api.url_map.merge_slashes = False
    api.url_map.converters["link"] = LinkText
    keep_order_of_fields(api)
    answer_errors(api)
    answer_browsers(api, otherwise=or_in_scim(answer_http_error))
    observe(api)
    api.register_blueprint(operations)
    api.register_blueprint(tls)
    api.register_blueprint(rest)
    api.register_blueprint(documentation)
    api.register_blueprint(app_api)
    api.register_blueprint(scim)
    api.register_blueprint(sdk)
    api.register_blueprint(script)
    attach_dashboard_services(api, resources)
    api.register_blueprint(dashboard)
    api.register_blueprint(shared)
    return api


def keep_order_of_fields(api: Quart) -> None:
    """Keep fields of JSON answers in the contract's order, for callers who compare them byte by byte."""
    api.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider's, which the base lacks
