"""`waylink import csv` beside a running service."""

from __future__ import annotations

from pathlib import Path

from tests.service_process import ServiceProcess


def test_import_csv(tmp_path: Path, running: ServiceProcess) -> None:
    """A dry run, the import, and the import again say what they did; refused rows are in a file beside it."""
    org_id = running.command("organization", "create", "Acme")["id"]
    running.command("domain", "add", "go.imported.example", "--org", org_id)
    file = tmp_path / "links.csv"
    file.write_text(
        "domain,selected_path,destination_url,link_name\n"
        "go.imported.example,a,https://shop.example/a,A\n"
        "go.imported.example,..,https://shop.example/b,B\n"
    )
    command = ("import", "csv", str(file), "--org", org_id)
    report = str(tmp_path / "links.refused.csv")
    expected = {"created": 1, "already_there": 0, "refused": 1, "report": report}
    assert running.command(*command, "--dry-run") == expected | {"dry_run": True}
    assert running.command(*command) == expected | {"dry_run": False}
    again = expected | {"created": 0, "already_there": 1, "dry_run": False}
    assert running.command(*command) == again
    assert "selected_path must be segments" in Path(report).read_text(encoding="utf-8")
    nowhere = running.refusal(*command, "--report", str(tmp_path / "missing" / "report.csv"))
    assert "The report can't be written" in nowhere
