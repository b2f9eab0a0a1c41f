"""Fixtures that every kind of test uses: a real MongoDB, the service on it, and organizations."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import hypothesis
import pytest
import uvloop
from jinja2 import FileSystemBytecodeCache
from quart import Quart

from backend.app import Service, create_app
from backend.concurrency.counted_log import CountedLog
from backend.dashboard.frame import failures
from backend.json_api import api_error, asgi_answer
from backend.rate_limits.exact_limit import ExactLimit
from backend.redirector.request import daily_keys
from backend.settings import Settings
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.analytics import process_start
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links.writing import domain_removal
from backend.storage.outbox import sequencer
from backend.system.clock import utc_now
from backend.webhooks import delivery
from tests import used_databases
from tests.architecture.recorded_actions import RecordedActions
from tests.examples import examples
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.order import deal_out, put_browsers_last
from tests.processes import certificates
from tests.processes.far_site import Site, far_site
from tests.processes.forked.analytics import forking_analytics, get_ready_to_fork, start_forked
from tests.processes.hashes import QUICK, TRUE
from tests.processes.idle import IDLE_SELDOM, idle_as_installed, idle_seldom
from tests.processes.replica_set import replica_set
from tests.processes.service_process import ServiceProcess, own_database, service_process
from tests.processes.time_limit import time_limit
from tests.summary import print_summary

# Hypothesis fails an example that takes 200 ms, and a test whose examples are made slowly: on a busy
# machine either may happen, and says nothing about what is tested. Continuous integration tries the same
# examples for the same code, so that it refuses no change for a fault that was there before.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    max_examples=examples(),
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("untimed")
certificates.read_once()
# Each process would compile the templates of its pages anew, all of them in more than a second. Under Jinja's
# own name may stand what was compiled with coroutines.
Quart.jinja_options = {"bytecode_cache": FileSystemBytecodeCache(pattern="waylink_%s.cache")}
# Of the tests that are collected nothing becomes garbage, and looking for it takes a fifth of the time.
gc.disable()

OrganizationFactory = Callable[[], Awaitable[TestOrganization]]
ServiceStarter = Callable[..., AbstractContextManager[ServiceProcess]]

LONGEST = 600.0  # seconds: none takes a tenth of it, also on a busy machine
LONGEST_WITH_LONG = 1_200.0  # the siege alone lasts ten minutes then

# Tests of a pulse, of heartbeats or of a change stream that they start themselves.
PULSE = (
    "tests/redirector/links/test_changes.py",
    "tests/redirector/links/test_known_old_links.py",
    "tests/storage/driver/test_pulse.py",
    "tests/storage/processes/test_heartbeats.py",
)


def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than there are cores: often two of them wait at once for processes and pauses."""
    return (os.cpu_count() or 1) + 2


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests on the loop that the service runs on."""
    return {"uvloop": uvloop.new_event_loop}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Deal the tests out before xdist reads their marks, and again put those in browsers behind the others.

    In between, pytest brings together what shares a parameter of a fixture, in browsers or not.
    """
    deal_out(items)
    yield
    put_browsers_last(items)


def pytest_collection_finish() -> None:
    """What was collected stays until the end: nobody looks for garbage in it again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Fixtures that never end fail, or all other tests would wait for them."""
    with time_limit(_longest(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """So do tests."""
    with time_limit(_longest(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """So does what clears up, also for a whole file or worker."""
    with time_limit(_longest(item)):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Name what failed at once: a run that is stopped before its end prints no summary."""
    if not report.failed:
        return None
    category = "failed" if report.when == "call" else "error"
    return category, f"\n{category.upper()} {report.nodeid}\n", category.upper()


def _longest(item: pytest.Item) -> float:
    return LONGEST_WITH_LONG if item.config.getoption("--long", default=False) else LONGEST


@pytest.fixture(scope="session", autouse=True)
def times_of_tests() -> Iterator[None]:
    """Times of the service under test: no test waits longer than it proves something, and nothing that an
    installation does now and then comes in the middle of one."""
    with pytest.MonkeyPatch.context() as patch:
        # Who takes a domain away waits for what processes remember, but not for links that are stored slowly.
        patch.setattr(domain_removal, "SETTLED_SECONDS", DomainOwners.LIFETIME + 0.5)
        # Daily keys are read once, and not by a clock that a test has just moved.
        patch.setattr(daily_keys, "LOOK_EVERY", 24 * 3600.0)
        # Tests store what waits for a place in the feed. To look for it twenty times a second takes a tenth
        # of the work, and whoever asks for figures does not wait for it.
        patch.setattr(sequencer, "POLL_INTERVAL", 0.25)
        # On a busy machine a count may take longer than a request should wait, and then none is kept out.
        patch.setattr(ExactLimit, "PATIENCE", 20.0)
        # Before the shared service starts: its stream of changes keeps the wait with which it was opened. And
        # before services start that the files of a folder share.
        idle_seldom(patch.setattr)
        patch.setenv(IDLE_SELDOM, "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_processes() -> Iterator[None]:
    """Processes that have the figures are forked, whichever service starts them."""
    with forking_analytics(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(process_start, "start_process", start_forked)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> Iterator[None]:
    """Hashes of passwords cost next to nothing in the tests' process, but for a test with `true_hashes`."""
    QUICK.use()
    yield
    TRUE.use()


@pytest.fixture
def true_hashes() -> Iterator[None]:
    """Hashes of passwords are made with the parameters that the service has."""
    TRUE.use()
    yield
    QUICK.use()


@pytest.fixture(scope="session", autouse=True)
def recorded_actions() -> Iterator[RecordedActions]:
    """What requests record in the audit log, in the service that runs in the tests' process."""
    with RecordedActions() as recorded:
        yield recorded


@pytest.fixture(autouse=True)
def records_as_declared(recorded_actions: RecordedActions) -> Iterator[None]:
    """No request of a test records an action that its operation or form does not declare."""
    yield
    assert not recorded_actions.take_undeclared()


@pytest.fixture(autouse=True)
def lines_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test makes fail has a line in the log, also where it failed alike within the minute before."""
    for module in (api_error, asgi_answer, failures):
        monkeypatch.setattr(module, "_log", CountedLog(logging.getLogger(LOGGERS[module])))


@pytest.fixture(scope="module", autouse=True)
def steps_of_webhooks(request: pytest.FixtureRequest) -> Iterator[None]:
    """What an organization changes of a webhook holds at once, in tests of webhooks.

    In all others the service looks for endpoints seldom: ten times a second takes as much work as all else
    that an idle service does.
    """
    with pytest.MonkeyPatch.context() as patch:
        if "webhook" in request.node.nodeid:
            patch.setattr(delivery, "STEP_SECONDS", 0.1)
        yield


@pytest.fixture(scope="module", autouse=True)
def pulse_of_a_service(request: pytest.FixtureRequest) -> Iterator[None]:
    """Services that tests fork stand idle for most of a run, as the shared one does, and do it as seldom.

    How soon a service notices that it sees no changes, or that MongoDB is away, is the subject of tests of
    faults. These have the times of an installation, as have those of `PULSE`, which have such rounds of their
    own.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.node.nodeid.startswith(("tests/faults/", *PULSE)):
            idle_as_installed(patch.setattr)
            patch.delenv(IDLE_SELDOM)
        yield


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Puts a figure that a test measured into the summary, also of tests that pass."""
    return lambda figure: record_property("figure", figure)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what all tests say together."""
    print_summary(terminalreporter)


LOGGERS = {api_error: "waylink.api", asgi_answer: "waylink.api", failures: "waylink.dashboard"}


class MovableClock:
    """The time of the service under test: the real one, plus what a test has moved it by."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def __call__(self) -> datetime:
        return utc_now() + self.offset


@pytest.fixture(scope="session")
def mongodb_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real MongoDB: the one that WAYLINK_MONGODB_URI names, else one that this worker's tests share.

    Nobody kills it, so its writes do not wait for the disk: half of the time of tests that write much.
    """
    configured = os.environ.get("WAYLINK_MONGODB_URI")
    if configured:
        yield configured
        used_databases.drop_all(configured)
        return
    with replica_set(tmp_path_factory.mktemp("mongodb"), 1, waits_for_disk=False) as server:
        yield server.uri


@pytest.fixture(scope="session")
def settings(mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of the service under test: a database of its own for this run."""
    return Settings(
        mongodb_uri=mongodb_uri,
        mongodb_database=f"test_{uuid.uuid4().hex[:12]}",
        data_dir=Path(tmp_path_factory.mktemp("data")),
        rate_limit=1_000_000,
        key_call_limit=1_000_000,
        address_call_limit=1_000_000,
        address_install_limit=1_000_000,
        keyless_request_limit=1_000_000,
        uncounted_visit_limit=1_000_000,
    )


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server that links lead to."""
    with far_site() as site:
        yield site


@pytest.fixture(scope="session")
def session_clock() -> MovableClock:
    """The clock of the one service that this test run shares."""
    return MovableClock()


@pytest.fixture
def clock(session_clock: MovableClock) -> Iterator[MovableClock]:
    """The service's clock, for a test to move; the next test has the real time again."""
    yield session_clock
    session_clock.offset = timedelta()


@pytest.fixture(scope="session")
async def service(
    mongodb_uri: str, settings: Settings, session_clock: MovableClock
) -> AsyncIterator[Service]:
    """The whole service, started; its database is dropped once it has stopped."""
    get_ready_to_fork()
    service = create_app(settings, session_clock)
    await service.startup()
    yield service
    await service.shutdown()
    used_databases.drop(mongodb_uri, settings.mongodb_database)


@pytest.fixture(scope="session")
def database(service: Service) -> Database:
    """The database of the service under test."""
    return service.resources.database


@pytest.fixture(scope="session")
def analytics(service: Service) -> Analytics:
    """What the service under test asks for figures."""
    return service.resources.analytics


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client that talks to the service without a network in between."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture(scope="session")
def start_service(mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> ServiceStarter:
    """Starts the service as a process, with a database of its own on the shared MongoDB.

    `with start_service(WAYLINK_RATE_LIMIT="5") as service`: for the length of the block, with these settings.
    """

    @contextmanager
    def start(**settings: str) -> Iterator[ServiceProcess]:
        folder = tmp_path_factory.mktemp("data")
        with own_database(mongodb_uri) as own, service_process(folder, **(own | settings)) as service:
            yield service

    return start


@pytest.fixture(scope="module")
def running(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """The service as a process, with default settings; the tests of a file share it.

    It works a little while nobody asks it: it does not wait for other files.
    """
    with start_service() as running:
        yield running


@pytest.fixture
def make_organization(database: Database) -> OrganizationFactory:
    """Makes an organization with a domain, an origin and keys."""
    return lambda: create_test_organization(database)


@pytest.fixture
async def organization(make_organization: OrganizationFactory) -> TestOrganization:
    """An organization of this test's own."""
    return await make_organization()
