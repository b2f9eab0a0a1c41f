"""`waylink doctor` beside a running service, with a proxy before it."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result
from pymongo import MongoClient
from pymongo.database import Database

from backend.doctor.configuration import examine_settings
from backend.doctor.domains.association_files import examine_association_files
from backend.doctor.domains.site import SiteVisitor, site_of
from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.finding import Severity
from backend.domain.ids import KeyId, OrgId
from backend.environment import load_settings
from backend.settings import Settings
from backend.storage.database import Indexes, open_database
from backend.storage.embedded.mongod_admin import MongodAdmin
from backend.storage.embedded.mongod_process import Mongod
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.page_reader import MOST_BYTES
from tests.doctor.front_proxy import Behaviour, front_proxy
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess, free_port, invoke, service_process

DOMAIN = "go.shop.localhost"
FINGERPRINT = ":".join(["AB"] * 32)
APPLE = "/.well-known/apple-app-site-association"
GOOGLE = "/.well-known/assetlinks.json"
APPS = Apps(IosApp("A1B2C3D4E5", "com.shop.app"), AndroidApp("com.shop.app", (FINGERPRINT,)))
PROXY = "127.0.0.9"
LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)
Finding = dict[str, str]


@dataclass(frozen=True, slots=True)
class Installation:
    """A service, a proxy before it at which doctor looks, and an organization with a domain and its apps."""

    running: ServiceProcess
    proxy_port: int
    proxy: Behaviour
    org_id: OrgId

    @property
    def visitor(self) -> SiteVisitor:
        """Who asks the domain for its files, through the proxy."""
        network = GuardedNetwork(allows_loopback=True)
        return SiteVisitor(site_of(DOMAIN, self.proxy_port), network, ssl.create_default_context())

    def doctor(self, *arguments: str, **settings: str) -> tuple[int, list[Finding]]:
        """The exit code, and the findings that are not ok."""
        code, printed = self.doctor_prints(*arguments, **settings)
        findings: list[Finding] = printed["findings"]
        counts: dict[str, int] = printed["counts"]
        for severity, count in counts.items():
            assert count == sum(finding["severity"] == severity for finding in findings)
        assert code == (1 if counts["error"] else 0)
        return code, findings

    def doctor_prints(self, *arguments: str, **settings: str) -> tuple[int, dict[str, Any]]:
        """The exit code, and what --json prints."""
        done = self.run("doctor", "--json", *arguments, **settings)
        return done.exit_code, json.loads(done.stdout)

    def run(self, *arguments: str, **settings: str) -> Result:
        """Run a command with the settings of a service that is reached through the proxy."""
        environment = {
            **self.running.environment,
            "WAYLINK_BASE_URL": f"http://127.0.0.1:{self.proxy_port}",
            "WAYLINK_PORT": str(self.proxy_port),
            "WAYLINK_LOCAL_SHORT_URLS": "true",
            "WAYLINK_TRUSTED_PROXIES": "",
            **settings,
        }
        return invoke(*arguments, environment=environment)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with which doctor finds nothing to warn of. It trusts a proxy at one address."""
    # With a MongoDB of its own, as is the default: of a configured one with one member, as the tests share,
    # doctor warns.
    trusted = {"WAYLINK_TRUSTED_PROXIES": PROXY}
    data = tmp_path_factory.mktemp("data")
    with service_process(data, WAYLINK_LOCAL_SHORT_URLS="true", **trusted) as running:
        yield running


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> OrgId:
    """An organization that has everything it needs."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    running.command("domain", "add", DOMAIN, "--org", org_id)
    running.command("origin", "add", "https://shop.example", "--org", org_id)
    for kind in ("rest", "web"):
        running.command("key", "create", "--org", org_id, "--kind", kind)
    set_apps(running, org_id, "--android-fingerprint", FINGERPRINT)
    return org_id


@pytest.fixture
def installation(running: ServiceProcess, org_id: OrgId) -> Iterator[Installation]:
    """The service with a new proxy before it."""
    with front_proxy(running.base_url.replace("localhost", "127.0.0.1")) as (port, behaviour):
        yield Installation(running, port, behaviour, org_id)


def set_apps(running: ServiceProcess, org_id: OrgId, *more: str) -> None:
    """Set an iOS and an Android app for the domain."""
    ios = ("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.shop.app")
    running.command("app", "set", DOMAIN, "--org", org_id, *ios, "--android-package", "com.shop.app", *more)


def about(findings: list[Finding], area: str, severity: str = "") -> list[Finding]:
    """The findings of an area, of one severity where it is given."""
    return [
        finding for finding in findings if finding["area"] == area and severity in {"", finding["severity"]}
    ]


def messages(findings: list[Finding]) -> str:
    """All that is said, for a test to look in."""
    return "\n".join(f"{finding['subject']}: {finding['message']}" for finding in findings)


def test_all_is_well(installation: Installation) -> None:
    """A service that works has no warning and no error, in any area, and the command ends with code 0."""
    code, findings = installation.doctor()
    assert (code, [finding for finding in findings if finding["severity"] in {"warning", "error"}]) == (0, [])
    areas = {"configuration", "storage", "background", "domains", "proxies", "keys", "ledger", "mail"}
    assert {finding["area"] for finding in findings} == areas
    address = f"http://{DOMAIN}:{installation.proxy_port}"
    readable = [finding["subject"] for finding in about(findings, "domains", "ok")]
    rooms = [f"{DOMAIN} apple-app-site-association", f"{DOMAIN} assetlinks.json"]
    assert readable == [*rooms, DOMAIN, f"{address}{APPLE}", f"{address}{GOOGLE}"]
    lines = installation.run("doctor").stdout.splitlines()
    assert lines[-1] == "0 errors, 0 warnings"
    assert any(line.startswith("ok       storage        MongoDB: Version ") for line in lines)
    assert "ok       storage        figures: A question about Acme is answered." in lines


def test_settings(installation: Installation) -> None:
    """A bad value is an error; a misspelt variable, and a header that no one is believed, are warnings."""
    code, findings = installation.doctor(WAYLINK_RATE_LIMIT="many")
    assert (code, len(findings)) == (1, 1)
    assert "WAYLINK_RATE_LIMIT is 'many'" in findings[0]["message"]
    _, findings = installation.doctor(WAYLINK_PROT="80", WAYLINK_COUNTRY_HEADER="CF-IPCountry")
    subjects = [finding["subject"] for finding in about(findings, "configuration", "warning")]
    assert subjects == ["WAYLINK_PROT", "WAYLINK_COUNTRY_HEADER"]


def test_the_base_url_is_asked(installation: Installation) -> None:
    """Where nothing answers at the public address, or something else does, that is an error."""
    closed = f"http://127.0.0.1:{free_port()}"
    _, findings = installation.doctor(WAYLINK_BASE_URL=closed)
    assert "Nothing answers there" in messages(about(findings, "configuration", "error"))
    installation.proxy.answers["/healthz"] = (302, {"Location": "https://login.example/"}, b"")
    _, findings = installation.doctor()
    assert "not this service (302" in messages(about(findings, "configuration", "error"))


PACKED = {"Content-Type": "application/json", "Content-Encoding": "gzip"}


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        (APPLE, (301, {"Location": "https://www.shop.example/"}, b""), "redirected to https://www.shop"),
        (APPLE, (200, {"Content-Type": "text/plain"}, b"{}"), "Content-Type is text/plain"),
        (APPLE, (200, {"Content-Type": "application/json"}, b"{}"), "JSON of another form"),
        (
            APPLE,
            (200, {"Content-Type": "application/json"}, b'{"applinks":{"details":[{"appIDs":["X.y"]}]}}'),
            "does not name the app A1B2C3D4E5.com.shop.app",
        ),
        (APPLE, (200, {"Content-Type": "application/json"}, b" " * 200_000), "Apple reads 131072"),
        (APPLE, (200, {"Content-Type": "application/json"}, b" " * 999_999), "has at least 262144 bytes"),
        (GOOGLE, (200, PACKED, gzip.compress(b" " * 1_000_000)), "has at least 262144 bytes, which can't"),
        (GOOGLE, (200, PACKED, b"no gzip"), "can't be unpacked"),
        (GOOGLE, (200, PACKED, gzip.compress(b"[]")), "does not name the app com.shop.app"),
        (GOOGLE, (403, {}, b""), "answered with status 403"),
        (GOOGLE, (200, {"Content-Type": "application/json"}, b"[]"), "does not name the app com.shop.app"),
        (GOOGLE, (200, {"Content-Type": "application/json; charset=utf-8"}, b"<html>"), "is not JSON"),
    ],
)
async def test_association_files_that_phones_refuse(
    installation: Installation, path: str, answer: tuple[int, dict[str, str], bytes], words: str
) -> None:
    """What a phone would not accept is an error that says what is wrong with which file."""
    installation.proxy.answers[path] = answer
    findings = await examine_association_files(installation.visitor, APPS)
    [error] = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert error.subject.endswith(path)
    assert words in error.message
    assert error.advice


def test_an_association_file_that_phones_refuse_is_an_error(installation: Installation) -> None:
    """The command ends with code 1 where a phone would not accept a file."""
    installation.proxy.answers[APPLE] = (301, {"Location": "https://www.shop.example/"}, b"")
    code, findings = installation.doctor()
    assert (code, [APPLE in finding["subject"] for finding in about(findings, "domains", "error")]) == (
        1,
        [True],
    )


def test_a_proxy_that_rewrites_the_host(installation: Installation) -> None:
    """A link domain whose requests arrive as the API's is an error that names the Host header."""
    installation.proxy.host = "127.0.0.1"
    _, findings = installation.doctor()
    [error] = [finding for finding in about(findings, "domains", "error") if finding["subject"] == DOMAIN]
    assert "pass the Host header on" in error["advice"]


def test_domains_that_do_not_work(installation: Installation) -> None:
    """A name that DNS does not know, the API's own name, and an app without a certificate are found."""
    other = installation.running.command("organization", "create", "Other")["id"]
    for domain in ("go.nowhere.invalid", "api.shop.localhost"):
        installation.running.command("domain", "add", domain, "--org", other)
    api = f"http://api.shop.localhost:{installation.proxy_port}"
    _, findings = installation.doctor("--org", other, WAYLINK_BASE_URL=api)
    by_subject = {finding["subject"]: finding for finding in about(findings, "domains", "error")}
    assert by_subject["go.nowhere.invalid"]["message"].startswith("DNS has no address for it")
    assert by_subject["go.nowhere.invalid"]["step"] == "dns"
    assert by_subject["api.shop.localhost"]["message"].startswith("It is the host of WAYLINK_BASE_URL too")
    set_apps(installation.running, installation.org_id)
    _, findings = installation.doctor("--org", installation.org_id)
    set_apps(installation.running, installation.org_id, "--android-fingerprint", FINGERPRINT)
    assert "names no certificate" in messages(about(findings, "domains", "warning"))


FOR = {"X-Forwarded-For": "203.0.113.9"}


@pytest.mark.parametrize(
    ("sends", "address", "trusted", "words"),
    [
        (FOR, "127.0.0.1", "", "none is trusted: every visitor gets the proxy's country"),
        (FOR, "127.0.0.1", "10.0.0.0/8", "but is not what is trusted, 10.0.0.0/8"),
        ({}, "127.0.0.1", "10.0.0.0/8", "10.0.0.0/8 is trusted, but no X-Forwarded-For arrives"),
        (
            {"Forwarded": "for=::1"},
            "127.0.0.1",
            "",
            "sends Forwarded; the service reads X-Forwarded-For only",
        ),
        (FOR, PROXY, PROXY, ""),
    ],
)
def test_proxies(
    installation: Installation, sends: dict[str, str], address: str, trusted: str, words: str
) -> None:
    """A proxy that the service does not know of, or one that it waits for in vain, is a warning."""
    installation.proxy.sends |= sends
    installation.proxy.address = address
    _, findings = installation.doctor(WAYLINK_TRUSTED_PROXIES=trusted)
    warnings = about(findings, "proxies", "warning")
    assert [words in finding["message"] for finding in warnings] == ([True] if words else [])


def test_networks_of_everybody() -> None:
    """Trusting any network in which strangers may be is a warning; the wide networks of proxies are none."""
    networks = (
        "0.0.0.0/0",
        "::/0",
        "128.0.0.0/1",
        "10.0.0.0/8",
        "104.16.0.0/13",
        "2400:cb00::/32",
        "fc00::/7",
    )
    findings = examine_settings(Settings(trusted_proxies=networks), {})
    told = [finding for finding in findings if finding.subject == "WAYLINK_TRUSTED_PROXIES"]
    assert [finding.message.split()[0] for finding in told] == ["0.0.0.0/0", "::/0", "128.0.0.0/1"]


def test_keys(installation: Installation) -> None:
    """No key for servers, a key for browsers without an origin, refused browsers, revoked and forgotten keys
    are found, and only the organization's that is asked about."""
    running = installation.running
    org_id = running.command("organization", "create", "Empty")["id"]
    web = running.command("key", "create", "--org", org_id, "--kind", "web")
    rest = running.command("key", "create", "--org", org_id, "--kind", "rest")
    running.command("key", "revoke", rest["id"], "--yes")
    batch = {"api_key": web["key"], "device_id": org_id, "sdk": "js/test", "calls": []}
    refused = httpx.post(
        f"{running.base_url}/serviceCore/sdk/v1/batch",
        json=batch,
        headers={"Origin": "https://new.example"},
    )
    assert refused.status_code == 403
    with mongodb(running) as database:
        long_ago = {"created_at": LONG_AGO, "last_used_at": LONG_AGO}
        database["api_keys"].update_one({"_id": web["id"]}, {"$set": long_ago})
    code, findings = installation.doctor("--org", org_id)
    assert code == 1
    keys = about(findings, "keys")
    assert {finding["subject"] for finding in keys} == {f"Empty ({org_id})"}
    assert [(finding["severity"], finding["message"].split(":")[0]) for finding in keys] == [
        ("warning", "No REST key is in force"),
        ("error", "It has a key for browsers and no allowed origin"),
        ("warning", f"The key c_web_…{web['key'][-4:]}, created on 2024-01-01, was last used on 2024-01-01."),
        ("info", "1 of its 2 keys are revoked."),
        ("warning", "Browsers on these origins were refused within a day"),
    ]
    assert "https://new.example" in keys[-1]["message"]
    unknown = installation.run("doctor", "--org", "nobody")
    assert "There is no organization with the id 'nobody'" in unknown.stderr


def test_the_use_of_a_key_is_remembered(installation: Installation) -> None:
    """The list of keys says when a key was used last."""
    running, org_id = installation.running, installation.org_id
    created = running.command("key", "create", "--org", org_id, "--kind", "rest")
    assert last_use(running, org_id, created["id"]) is None
    page = httpx.get(f"{running.base_url}/serviceCore/pa/v1/links/page", headers={"API-KEY": created["key"]})
    assert page.status_code == 200
    # One member confirms the use before the answer; a majority, which the list shows, soon after.
    wait_for(lambda: last_use(running, org_id, created["id"]) is not None, "the use is in the list")


def last_use(running: ServiceProcess, org_id: OrgId, key_id: KeyId) -> str | None:
    """When a key was used last, as the list of keys says it."""
    keys = running.command("key", "list", "--org", org_id)["keys"]
    time: str | None = next(key["last_used"] for key in keys if key["id"] == key_id)
    return time


def test_indexes(installation: Installation) -> None:
    """An index that is missing, not as declared, or not ours is found, and doctor does not put it right."""
    with mongodb(installation.running) as database:
        links = database["links"]
        links.drop_index("domain_1_path_1")
        links.create_index([("domain", 1), ("path", 1)], name="domain_1_path_1")
        database["apps"].drop_index("org_id_1__id_1")
        links.create_index("link_name")
        try:
            _, findings = installation.doctor()
            assert "org_id_1__id_1" not in database["apps"].index_information()
        finally:
            links.drop_index("domain_1_path_1")
            links.drop_index("link_name_1")
    severities = {
        finding["subject"]: finding["severity"]
        for finding in about(findings, "storage")
        if "." in finding["subject"]
    }
    assert severities == {
        "links.domain_1_path_1": "error",
        "links.link_name_1": "info",
        "apps.org_id_1__id_1": "warning",
    }
    mend_indexes(installation.running)
    assert about(installation.doctor()[1], "storage", "error") == []


def test_a_database_that_does_not_answer(installation: Installation) -> None:
    """Without its database, the rest is left out and one error says why, without the password."""
    uri = f"mongodb://user:secret@127.0.0.1:{free_port()}/?serverSelectionTimeoutMS=200"
    _, findings = installation.doctor(WAYLINK_MONGODB_URI=uri)
    [error] = about(findings, "storage")
    assert error["severity"] == "error"
    assert "does not answer" in error["message"]
    assert "secret" not in json.dumps(findings)


@contextmanager
def mongodb(running: ServiceProcess) -> Iterator[Database[dict[str, Any]]]:
    """The service's database."""
    folder = Path(running.environment["WAYLINK_DATA_DIR"]) / "mongodb"
    admin = MongodAdmin(json.loads((folder / "server.json").read_text())["port"], Mongod(folder).key)
    with MongoClient[dict[str, Any]](admin.uri) as client:
        yield client["waylink"]


def mend_indexes(running: ServiceProcess) -> None:
    """Make what is missing, as a service does that starts."""

    async def open_and_close() -> None:
        async with open_database(load_settings(running.environment, Path("none")), Indexes.MAKE):
            pass

    asyncio.run(open_and_close())


async def test_what_a_tenant_answers_is_read_with_a_bound(installation: Installation) -> None:
    """Of 50 MB in 50 KB of gzip, nothing is unpacked beyond the bound, so that nobody fills the memory."""
    installation.proxy.answers[GOOGLE] = (200, PACKED, gzip.compress(b" " * 50_000_000))
    tracemalloc.start()
    try:
        answer = await installation.visitor.get(GOOGLE.removeprefix("/"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(answer.content) == MOST_BYTES
    assert most < 20 * MOST_BYTES
