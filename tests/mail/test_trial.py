"""`waylink mail test` and the doctor, against a mail server that encrypts and asks for a password."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.doctor.mail import examine_mail_server
from backend.domain.finding import Severity
from backend.environment import load_settings
from backend.settings import Settings
from tests.processes.service_process import invoke
from tests.processes.smtp_server import Mailbox, smtp_server

TLS = Path(__file__).parents[1] / "doctor" / "domains" / "tls"


@pytest.fixture(scope="module")
def strict() -> Iterator[Mailbox]:
    """A server that offers STARTTLS, and lets in who has the password."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "valid.pem", TLS / "server.key")
    with smtp_server(context, password="secret") as mailbox:
        yield mailbox


def settings_at(mailbox: Mailbox, **settings: str) -> dict[str, str]:
    """Settings that sign in there."""
    own = {"WAYLINK_SMTP_TLS": "starttls", "WAYLINK_SMTP_USER": "links", "WAYLINK_SMTP_PASSWORD": "secret"}
    return mailbox.settings | own | settings


def tried(environment: dict[str, str], address: str = "ada@shop.example") -> tuple[int, dict[str, Any]]:
    """The exit code of `waylink mail test`, and how each step went."""
    done = invoke("mail", "test", address, "--json", environment=environment)
    return done.exit_code, json.loads(done.stdout or done.stderr)


def test_each_step_says_its_error(strict: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that is not trusted, a wrong password, an address that is refused; then all is well."""
    code, printed = tried(settings_at(strict))
    assert code == 1
    assert "certificate verify failed" in printed["steps"]["tls"]
    assert printed["steps"]["sign_in"] == "not tried"
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "ca.pem"))
    code, printed = tried(settings_at(strict, WAYLINK_SMTP_PASSWORD="wrong"))
    assert (code, printed["steps"]["tls"], printed["steps"]["sign_in"][:3]) == (1, "ok", "535")
    strict.to_address = lambda address: "550 5.1.1 No such mailbox" if address == "no@x.example" else "250 OK"
    code, printed = tried(settings_at(strict), "no@x.example")
    assert (code, printed["steps"]["recipient"]) == (1, "550 5.1.1 No such mailbox")
    code, printed = tried(settings_at(strict))
    assert (code, printed["sent"], set(printed["steps"].values())) == (0, True, {"ok"})
    assert strict.counts == {"ada@shop.example": 1}


def test_what_can_not_be_tried() -> None:
    """Without a server, and with what is no address, the command says what is missing."""
    assert "set WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER" in tried({})[1]["error"]
    assert "must be an e-mail address" in tried({}, "ada")[1]["error"]


async def test_the_doctor(mailbox: Mailbox) -> None:
    """It says that there is no server, what is missing, whether the server lets the service in."""
    assert (await examine_mail_server(Settings())).severity is Severity.INFO
    half = await examine_mail_server(Settings(smtp_host="localhost"))
    assert (half.severity, half.subject) == (Severity.ERROR, "WAYLINK_SMTP_SENDER")
    assert (await examine_mail_server(load_settings(mailbox.settings, Path("none")))).severity is Severity.OK
    unencrypted = mailbox.settings | {"WAYLINK_SMTP_TLS": "starttls"}
    refused = await examine_mail_server(load_settings(unencrypted, Path("none")))
    assert (refused.severity, "STARTTLS extension not supported" in refused.message) == (Severity.ERROR, True)
