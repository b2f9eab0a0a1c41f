"""`waylink mail add`, `change`, `list` and `remove`: who gets the figures of which report."""

from __future__ import annotations

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke, run_command

SERVER = {"WAYLINK_SMTP_HOST": "localhost", "WAYLINK_SMTP_SENDER": "links@shop.example"}


def test_a_reader_from_asking_to_removing(running: ServiceProcess, org_id: OrgId) -> None:
    """Somebody is asked once, and a change of rhythm, language and time zone asks nobody again."""
    environment = running.environment | SERVER
    report = running.command("report", "share", "--org", org_id, "--name", "Spring")
    add = ("mail", "add", f"ada@{org_id}.example", "--org", org_id, "--report", report["id"])
    made = run_command(*add, environment=environment)
    settings = {"frequency": "monthly", "language": "de", "timezone": "Europe/Berlin"}
    options = [text for name, value in settings.items() for text in (f"--{name}", value)]
    changed = running.command("mail", "change", made["id"], "--org", org_id, *options)
    assert changed == made | settings | {"last_mail": None}
    [listed] = running.command("mail", "list", "--org", org_id)["recipients"]
    assert {name: listed[name] for name in settings} == settings
    wrong = ("mail", "change", made["id"], "--org", org_id, "--timezone", "Nowhere")
    assert "must be the IANA name" in invoke(*wrong, environment=environment).output
    running.command("mail", "remove", made["id"], "--org", org_id)
    gone = invoke("mail", "change", made["id"], "--org", org_id, environment=environment)
    assert "has no such recipient" in gone.output
