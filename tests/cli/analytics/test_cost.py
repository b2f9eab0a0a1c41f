"""`waylink cost`."""

from __future__ import annotations

from pathlib import Path

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess

SHEET = "campaign,day,cost\nspring,2026-03-02,7\nspring,3/2/2026,5\nsummer,01.03.2026,1\n"


def test_costs_are_added_imported_listed_and_deleted(
    running: ServiceProcess, org_id: OrgId, tmp_path: Path
) -> None:
    """A dry run stores nothing; refused rows say why; campaigns that nothing has are named."""
    of = ("--org", org_id)
    added = running.command(
        "cost",
        "add",
        *of,
        "--campaign",
        "spring",
        "--day",
        "01.03.2026",
        "--amount",
        "1.234,50",
        "--currency",
        "eur",
    )
    assert (added["day"], added["amount"], added["currency"]) == ("2026-03-01", "1234.50", "EUR")
    assert "No link" in added["warning"]
    file = tmp_path / "costs.csv"
    file.write_text(SHEET)
    looked_at = running.command("cost", "import", str(file), *of, "--currency=USD", "--dry-run", exit_code=3)
    assert (looked_at["would_be_stored"], looked_at["refused"]) == (2, 1)
    assert looked_at["refused_rows"] == [
        {"row": 3, "problems": ["day must be a day such as 2026-03-01 or 01.03.2026"]}
    ]
    assert set(looked_at["unknown_campaigns"]) == {"spring", "summer"}
    imported = running.command("cost", "import", str(file), *of, exit_code=3)
    assert (imported["new"], imported["replaced"], imported["unchanged"]) == (2, 0, 0)
    listed = running.command("cost", "list", *of, "--campaign", "spring")
    assert [cost["day"] for cost in listed["costs"]] == ["2026-03-02", "2026-03-01"]
    assert len(running.command("cost", "list", *of, "--to", "2026-03-02")["costs"]) == 2
    assert running.command("cost", "delete", added["id"], *of)["deleted"]
    assert "no such cost" in running.refusal("cost", "delete", added["id"], *of)


def test_what_is_wrong_is_named(running: ServiceProcess, org_id: OrgId, tmp_path: Path) -> None:
    """A wrong option by its name; a file without a row that can be read by its first problem."""
    of = ("--org", org_id)
    given = ("--campaign", "spring", "--day", "2026-03-01", "--amount", "1,234", "--currency", "EUR")
    assert "--amount could be thousands or decimals" in running.refusal("cost", "add", *of, *given)
    assert "--from must be a day" in running.refusal("cost", "list", *of, "--from", "soon")
    file = tmp_path / "costs.csv"
    file.write_text("campaign,day,cost\nspring,soon,7\n")
    assert "row 2: day must be a day" in running.refusal("cost", "import", str(file), *of)
    file.write_text("campaign,clicks\nspring,7\n")
    assert "none is called day or amount" in running.refusal("cost", "import", str(file), *of)
