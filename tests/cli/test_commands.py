"""The command line beside a running service, on the service's own MongoDB."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from tests.conftest import ServiceStarter
from tests.processes.forked.loaded_modules import tell_modules
from tests.processes.forked.service import FORK_SERVER, forked_command
from tests.processes.service_process import ServiceProcess


def test_organizations_are_listed(running: ServiceProcess, org_id: OrgId) -> None:
    """An organization that was created is in the list, with its id and name."""
    assert {"id": org_id, "name": "Acme"} in running.command("organization", "list")["organizations"]


@pytest.mark.parametrize(("kind", "prefix"), [("rest", "c_api_"), ("mobile", "c_mob_"), ("web", "c_web_")])
def test_a_key_is_shown_once(running: ServiceProcess, org_id: OrgId, kind: str, prefix: str) -> None:
    """A new key is printed; the list has its prefix and last four only, unless it is public; a revocation is
    recorded."""
    created = running.command("key", "create", "--org", org_id, "--kind", kind)
    assert created["key"].startswith(prefix)
    listed = next(
        row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == created["id"]
    )
    hint = f"{prefix}…{created['key'][-4:]}"
    assert listed["key"] == (created["key"] if kind == "web" else hint)
    assert listed["revoked"] is None
    assert running.command("key", "revoke", created["id"], "--yes") == {"id": created["id"], "revoked": True}
    after = next(
        row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == created["id"]
    )
    assert after["revoked"] is not None


def test_a_domain_belongs_to_one_organization(running: ServiceProcess, org_id: OrgId) -> None:
    """Adding a domain again changes nothing for its owner, and is refused to others."""
    for _ in range(2):
        assert (
            running.command("domain", "add", "Go.Acme.example", "--org", org_id)["domain"]
            == "go.acme.example"
        )
    other = running.command("organization", "create", "Other")["id"]
    assert "already belongs to another organization" in running.refusal(
        "domain", "add", "go.acme.example", "--org", other
    )
    assert running.command("domain", "list", "--org", org_id)["domains"] == ["go.acme.example"]
    assert running.command("domain", "list", "--org", other)["domains"] == []


def test_a_key_is_limited_to_links(running: ServiceProcess, org_id: OrgId) -> None:
    """By tags, domains and ids, with scopes that hold to it; the list says to what, errors name options."""
    running.command("domain", "add", "go.limits.example", "--org", org_id)
    create = ("key", "create", "--org", org_id, "--kind", "rest", "--limit-domain", "go.limits.example")
    scopes = ("--scope", "links:read")
    made = running.command(*create, *scopes)
    assert made["limited_to"] == "domain go.limits.example"
    listed = {row["id"]: row["limited_to"] for row in running.command("key", "list", "--org", org_id)["keys"]}
    assert listed[made["id"]] == made["limited_to"]
    assert "--scope of a key that is limited to links must be some of links:read" in running.refusal(*create)
    refused = running.refusal(*create, *scopes, "--limit-tag", "nobody's")
    assert "--limit-tag must be the organization's, and this one is not: nobody's" in refused


def test_origins_come_and_go(running: ServiceProcess, org_id: OrgId) -> None:
    """An origin is kept as browsers send it, and can be removed."""
    assert (
        running.command("origin", "add", "https://Acme.example/", "--org", org_id)["origin"]
        == "https://acme.example"
    )
    assert running.command("origin", "list", "--org", org_id)["origins"] == ["https://acme.example"]
    assert running.command("origin", "remove", "https://acme.example", "--org", org_id, "--yes")["removed"]
    assert "was not allowed" in running.refusal(
        "origin", "remove", "https://acme.example", "--org", org_id, "--yes"
    )


def test_a_subscription_runs_to_the_end_of_its_day(running: ServiceProcess, org_id: OrgId) -> None:
    """A date means the whole of that day in UTC; none ends the subscription."""
    until = running.command("subscription", "set", "--org", org_id, "--until", "2027-12-31")["until"]
    assert until == "2027-12-31T23:59:59+00:00"
    midnight = ("--until", "2027-12-31T00:00:00")
    until = running.command("subscription", "set", "--org", org_id, *midnight)["until"]
    assert until == "2027-12-31T00:00:00+00:00"
    assert running.command("subscription", "set", "--org", org_id, "--until", "none")["until"] is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("key", "create", "--org", "nobody", "--kind", "rest"),
            "There is no organization with the id 'nobody'",
        ),
        (("key", "create", "--org", "nobody", "--kind", "admin"), "'admin' is not one of"),
        (("key", "revoke", "nothing"), "There is no key with the id 'nothing'"),
        (("domain", "add", "not a host", "--org", "nobody"), "must be a host name"),
        (("domain", "add", "localhost", "--org", "nobody"), "the API's own host name"),
        (("origin", "add", "acme.example", "--org", "nobody"), "must look like https://shop.com"),
        (("subscription", "set", "--org", "nobody", "--until", "soon"), "is not a date"),
        (("organization", "create", " "), "name must not be empty"),
    ],
)
def test_bad_input_is_named(running: ServiceProcess, arguments: tuple[str, ...], sentence: str) -> None:
    """A command that can't be carried out says what is wrong, without a traceback."""
    assert sentence in running.refusal(*arguments)


def failed_process(environment: dict[str, str], log: Path, *arguments: str) -> str:
    """What a command says that fails in a process of its own."""
    with forked_command(environment, log, arguments) as process:
        assert process.wait(60) == 1
    message = log.read_text()
    assert "Traceback" not in message
    return message


def test_a_taken_port_is_named(running: ServiceProcess, tmp_path: Path) -> None:
    """A second service on the same port is told which setting moves it."""
    message = failed_process(running.environment, tmp_path / "log", "serve")
    assert "is taken" in message
    assert "WAYLINK_PORT" in message


def test_a_database_that_does_not_answer_is_named(running: ServiceProcess, tmp_path: Path) -> None:
    """A configured MongoDB that is not there gives one sentence, without its password."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        uri = f"mongodb://user:secret@127.0.0.1:{closed.getsockname()[1]}/?serverSelectionTimeoutMS=200"
        environment = running.environment | {"WAYLINK_MONGODB_URI": uri}
        message = failed_process(environment, tmp_path / "log", "organization", "list")
    assert "does not answer" in message
    assert "secret" not in message


def test_a_signal_ends_the_service_cleanly(start_service: ServiceStarter) -> None:
    """Ctrl-C ends the service with exit code 0."""
    with start_service() as service:
        assert service.stop(signal.SIGINT) == 0


def modules_after(importing: str) -> set[str]:
    """The modules that a new process has loaded after this import."""
    return {
        *subprocess.run(
            [sys.executable, "-c", f"import sys, {importing}; print(*sys.modules)"],
            capture_output=True, text=True, check=True,
        ).stdout.split()
    }  # fmt: skip


def test_the_supervisor_imports_no_more_than_it_needs() -> None:
    """`waylink serve` starts and watches workers: they alone load the application and the driver. What counts
    for all of them is loaded once they have a folder for that."""
    loaded = modules_after("backend.cli.serve")
    assert "backend.serving.workers" in loaded
    assert {"quart", "motor", "pymongo", "prometheus_client", "backend.app"}.isdisjoint(loaded)


def test_the_application_does_not_load_duckdb() -> None:
    """A service that nobody asks for figures has no need of DuckDB, which takes 65 MB of memory."""
    receiving, sending = FORK_SERVER.Pipe(duplex=False)
    process = FORK_SERVER.Process(target=tell_modules, args=(sending,))
    process.start()
    loaded = set(receiving.recv())
    process.join()
    assert {"quart", "backend.app", "backend.storage.analytics.client"} <= loaded
    assert {"duckdb", "backend.storage.columns"}.isdisjoint(loaded)


def test_short_commands_import_no_more_than_they_need() -> None:
    """Nearly all their time is imports: the driver and all collections, which say what of each is recorded,
    but neither metrics nor what serves pages."""
    links = ("links.list_links", "links.show", "links.write", "links.archive", "links.hold", "links.reports")
    accounts = ("accounts.organization", "accounts.key", "domains.owned", "accounts.origin")
    loaded = modules_after(", ".join(f"backend.cli.{name}" for name in (*accounts, *links)))
    assert "motor" in loaded
    unneeded = {
        "quart",
        "prometheus_client",
        "httpx",
        "argon2",
        "backend.imports",
    }
    assert unneeded.isdisjoint(loaded)


def test_a_command_does_not_wait_for_the_driver(running: ServiceProcess) -> None:
    """When its process ends, nothing waits for the driver's threads, which sleep for half a second."""
    script = """
from pymongo import periodic_executor
class Told(set):
    def __iter__(self):
        print("waits for threads")
        return super().__iter__()
periodic_executor._EXECUTORS = Told(periodic_executor._EXECUTORS)
from backend.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, "organization", "list"],
        capture_output=True, text=True, check=True, env=running.environment,
    )  # fmt: skip
    assert "waits for threads" not in done.stdout
    assert not done.stderr
