"""`waylink report cohorts`, `time-to-sale` and `new-customers`."""

from __future__ import annotations

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess


def test_reports_of_customers(running: ServiceProcess, org_id: OrgId) -> None:
    """Each prints what REST answers; what is wrong names its option."""
    of = ("--org", org_id)
    found = running.command("report", "cohorts", *of, "--period", "last_28_days", "--weeks", "2")
    assert len(found["cohorts"]) in {4, 5}
    assert running.command("report", "time-to-sale", *of, "--model", "first")["conversions"] == 0
    assert running.command("report", "new-customers", *of)["new"]["customers"] == 0
    assert "--weeks must be" in running.refusal("report", "cohorts", *of, "--weeks", "99")
    assert "--model must be one of" in running.refusal("report", "time-to-sale", *of, "--model", "linear")
    assert "--filter event can't be" in running.refusal("report", "cohorts", *of, "--filter", "event=x")
