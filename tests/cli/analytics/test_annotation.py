"""`waylink annotation`."""

from __future__ import annotations

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess


def test_notes_are_added_listed_and_removed(running: ServiceProcess, org_id: OrgId) -> None:
    """What is added is listed until it is removed; what is wrong names its option."""
    of = ("--org", org_id)
    added = running.command("annotation", "add", *of, "--at", "2026-03-02", "--text", "Newsletter")
    assert (added["at"], added["text"], added["created_by"]) == ("2026-03-02", "Newsletter", "person")
    assert running.command("annotation", "list", *of) == {"annotations": [added]}
    assert running.command("annotation", "list", *of, "--from", "2026-03-03") == {"annotations": []}
    assert "--at must be a date" in running.refusal("annotation", "add", *of, "--at", "soon", "--text", "x")
    assert running.command("annotation", "remove", added["id"], *of)["removed"]
    assert "no such note" in running.refusal("annotation", "remove", added["id"], *of)
