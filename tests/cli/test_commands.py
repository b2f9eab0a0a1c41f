"""The command line beside a running service, on the service's own MongoDB."""

from __future__ import annotations

import signal
import socket
import subprocess

import pytest

from tests.service_process import WAYLINK, ServiceProcess, environment_of, run_command, service_process


def refusal(running: ServiceProcess, *arguments: str) -> str:
    """What a command that must fail prints."""
    done = subprocess.run(
        [*WAYLINK, *arguments], capture_output=True, text=True, env=running.environment, check=False
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_organizations_are_listed(running: ServiceProcess, org_id: str) -> None:
    """An organization that was created is in the list, with its id and name."""
    assert {"id": org_id, "name": "Acme"} in running.command("organization", "list")["organizations"]


@pytest.mark.parametrize(("kind", "prefix"), [("rest", "c_api_"), ("mobile", "c_mob_"), ("web", "c_web_")])
def test_a_key_is_shown_once(running: ServiceProcess, org_id: str, kind: str, prefix: str) -> None:
    """A new key is printed; the list has its prefix and last four only; revoking it is recorded."""
    created = running.command("key", "create", "--org", org_id, "--kind", kind)
    assert created["key"].startswith(prefix)
    listed = next(
        row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == created["id"]
    )
    assert listed["key"] == f"{prefix}…{created['key'][-4:]}"
    assert listed["revoked"] is None
    assert running.command("key", "revoke", created["id"]) == {"id": created["id"], "revoked": True}
    after = next(
        row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == created["id"]
    )
    assert after["revoked"] is not None


def test_a_domain_belongs_to_one_organization(running: ServiceProcess, org_id: str) -> None:
    """Adding a domain again changes nothing for its owner, and is refused to others."""
    for _ in range(2):
        assert (
            running.command("domain", "add", "Go.Acme.example", "--org", org_id)["domain"]
            == "go.acme.example"
        )
    other = running.command("organization", "create", "Other")["id"]
    assert "already belongs to another organization" in refusal(
        running, "domain", "add", "go.acme.example", "--org", other
    )
    assert running.command("domain", "list", "--org", org_id)["domains"] == ["go.acme.example"]
    assert running.command("domain", "list", "--org", other)["domains"] == []


def test_origins_come_and_go(running: ServiceProcess, org_id: str) -> None:
    """An origin is kept as browsers send it, and can be removed."""
    assert (
        running.command("origin", "add", "https://Acme.example/", "--org", org_id)["origin"]
        == "https://acme.example"
    )
    assert running.command("origin", "list", "--org", org_id)["origins"] == ["https://acme.example"]
    assert running.command("origin", "remove", "https://acme.example", "--org", org_id)["removed"] is True
    assert "was not allowed" in refusal(running, "origin", "remove", "https://acme.example", "--org", org_id)


def test_a_subscription_runs_to_the_end_of_its_day(running: ServiceProcess, org_id: str) -> None:
    """A date means the whole of that day in UTC; none ends the subscription."""
    until = running.command("subscription", "set", "--org", org_id, "--until", "2027-12-31")["until"]
    assert until == "2027-12-31T23:59:59+00:00"
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
        (("organization", "create", " "), "needs a name"),
    ],
)
def test_bad_input_is_named(running: ServiceProcess, arguments: tuple[str, ...], sentence: str) -> None:
    """A command that can't be carried out says what is wrong, without a traceback."""
    assert sentence in refusal(running, *arguments)


def test_a_taken_port_is_named(running: ServiceProcess) -> None:
    """A second service on the same port is told which setting moves it."""
    message = refusal(running, "serve")
    assert "is taken" in message
    assert "WAYLINK_PORT" in message


def test_a_database_that_does_not_answer_is_named(running: ServiceProcess) -> None:
    """A configured MongoDB that is not there gives one sentence, without its password."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        uri = f"mongodb://user:secret@127.0.0.1:{closed.getsockname()[1]}/?serverSelectionTimeoutMS=200"
        unreachable = ServiceProcess(running.process, running.environment | {"WAYLINK_MONGODB_URI": uri}, "")
        message = refusal(unreachable, "organization", "list")
    assert "does not answer" in message
    assert "secret" not in message


def test_commands_work_without_a_service(
    running: ServiceProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With nothing running, a command starts MongoDB for as long as it needs it, and what it stored stays."""
    environment = environment_of(tmp_path_factory.mktemp("alone"))
    created = run_command("organization", "create", "Alone", environment=environment)
    listed = run_command("organization", "list", environment=environment)
    assert [each["id"] for each in listed["organizations"]] == [created["id"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_service_cleanly(
    tmp_path_factory: pytest.TempPathFactory, number: signal.Signals
) -> None:
    """Ctrl-C and SIGTERM end the service with exit code 0."""
    with service_process(tmp_path_factory.mktemp("signal")) as service:
        assert service.stop(number) == 0
