"""`waylink alerts`."""

from __future__ import annotations

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess


def test_rules_are_made_rehearsed_and_removed(running: ServiceProcess, org_id: OrgId) -> None:
    """A rule has its thresholds, says what it would have sent, and is told by its field if it is wrong."""
    org = ("--org", org_id)
    rule = running.command(
        "alerts", "add", *org, "--name", "Jump", "--kind", "spike", "--threshold", "least=50"
    )
    assert rule["thresholds"] == {"factor": 3, "least": 50}
    assert running.command("alerts", "rules", *org)["alert_rules"] == [rule]
    rehearsed = {"name": "Jump", "kind": "spike", "alerts": 0, "note": None, "findings": []}
    assert running.command("alerts", "rehearse", *org) == {"rules": [rehearsed]}
    assert "--threshold.days" in running.refusal(
        "alerts", "rehearse", *org, "--kind", "drop", "--threshold", "days=1"
    )
    assert "need --kind" in running.refusal("alerts", "rehearse", *org, "--tag", "spring")
    assert running.command("alerts", "list", *org) == {"alerts": []}
    running.command("alerts", "remove", rule["id"], *org)
    assert "no such rule" in running.refusal("alerts", "remove", rule["id"], *org)
