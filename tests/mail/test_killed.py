"""A service that is killed while it sends: no mail comes twice."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

from pymongo import MongoClient

from backend.domain.mail.mail import MailState
from backend.environment import load_settings
from backend.storage.mail import mails
from backend.system.clock import utc_now
from tests.mail.conftest import mail_to
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess, own_database, service_process
from tests.processes.smtp_server import TAKEN, Mailbox

MAILS = 6


def queue(service: ServiceProcess) -> None:
    """Queue mails beside the service; the document is the one that `queue_mail` makes."""
    settings = load_settings(service.environment, Path("none"))
    with MongoClient[dict[str, Any]](settings.mongodb_uri) as client:
        for number in range(MAILS):
            document = mails.waiting_document(mail_to(f"{number}@x.example", f"n/{number}"), utc_now())
            client[settings.mongodb_database][mails.NAME].insert_one(document)


def test_killed_between_two_mails_and_in_one(mongodb_uri: str, tmp_path: Path, mailbox: Mailbox) -> None:
    """What was taken is not sent again. What was being taken as the service died is uncertain, and the next
    process sends the rest."""
    stands, killed = Event(), Event()

    def hold(address: str) -> str:
        if address == "3@x.example" and not killed.is_set():
            stands.set()
            killed.wait(20)
        return TAKEN

    mailbox.to_message = hold
    with own_database(mongodb_uri) as own:
        with service_process(tmp_path, **own, **mailbox.settings) as service:
            queue(service)
            assert stands.wait(20)
            service.kill()
            killed.set()
        wait_for(lambda: mailbox.counts["3@x.example"], "the message that the server had already")
        settings = load_settings(service.environment, Path("none"))
        with MongoClient[dict[str, Any]](settings.mongodb_uri) as client:
            # The lease of who was killed lasts for a while; nothing else is taken from the next process.
            client[settings.mongodb_database]["leases"].delete_one({"_id": "mail"})
        with service_process(tmp_path, **own, **mailbox.settings) as service:
            wait_for(lambda: len(mailbox.messages), "all mails", lambda count: count >= MAILS)
            wait_for(
                lambda: {mail["_id"]: mail["state"] for mail in service.stored("mails")},
                "states of mails",
                lambda states: MailState.WAITING not in states.values(),
            )
            states = {mail["_id"]: mail["state"] for mail in service.stored("mails")}
    assert set(mailbox.counts.values()) == {1}
    assert states.pop("o/n/3") == MailState.UNCERTAIN
    assert set(states.values()) == {MailState.SENT}
