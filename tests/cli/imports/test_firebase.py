"""`waylink import firebase` beside a running service, and where its links then lead."""

from __future__ import annotations

import csv
from pathlib import Path

import httpx

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke

SAMPLE = Path(__file__).parents[3] / "docs" / "samples" / "firebase-dynamic-links.csv"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0"


def test_import_firebase(tmp_path: Path, running: ServiceProcess) -> None:
    """After a dry run and the import, links lead where they led; what was left out is in a file beside it."""
    file = tmp_path / "export.csv"
    file.write_bytes(SAMPLE.read_bytes())
    org_id = running.command("organization", "create", "Acme")["id"]
    running.command("domain", "add", "links.shop.example", "--org", org_id)
    command = (
        "import", "firebase", str(file), "--org", org_id, "--domain", "go.shop.example=links.shop.example"
    )  # fmt: skip
    dry = running.command(*command, "--dry-run")
    assert (dry["would_be_created"], dry["already_there"], dry["refused"]) == (3, 0, 0)
    assert sum(column["rows"] for column in dry["not_taken_over"]) == 8
    assert dry["left_out_report"] == str(tmp_path / "export.left-out.csv")
    assert running.command(*command)["created"] == 3
    again = invoke(*command, environment=running.environment)
    assert f"waylink app set links.shop.example --org {org_id} --ios-team-id TEAM" in again.stderr
    with (tmp_path / "export.left-out.csv").open(encoding="utf-8", newline="") as opened:
        assert len(list(csv.DictReader(opened))) == 8
    assert visit(running.base_url, "/spring", WINDOWS).startswith(
        "https://shop.example/sale?utm_source=newsletter&utm_medium=email&utm_campaign=spring&cl_link_id="
    )
    assert visit(running.base_url, "/app/Xy12", WINDOWS).startswith("https://shop.example/desktop?")
    assert visit(running.base_url, "/app/Xy12", IPHONE).startswith("https://shop.example/ios?")
    assert visit(running.base_url, "/old", WINDOWS).startswith("https://shop.example/gone")


def test_a_domain_that_is_missing(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """The import names each domain that the organization lacks, with the command that adds it; Google's own
    can't be added, only moved."""
    file = tmp_path / "export.csv"
    text = SAMPLE.read_text(encoding="utf-8")
    file.write_text(text.replace("go.shop.example/old", "shop.page.link/old"), encoding="utf-8")
    command = ("import", "firebase", str(file), "--org", org_id, "--dry-run")
    done = invoke(*command, environment=running.environment)
    added = f"If it is yours: waylink domain add go.shop.example --org {org_id}\n"
    assert f"go.shop.example is no link domain of the organization. {added}" in done.stderr
    assert "shop.page.link is Google's: put its links on a domain of yours with --domain" in done.stderr
    assert running.command(*command, exit_code=3)["missing_domains"] == [
        {"domain": "go.shop.example", "rows": 2},
        {"domain": "shop.page.link", "rows": 1},
    ]


def visit(base_url: str, path: str, agent: str) -> str:
    """Where a short URL leads this browser."""
    answer = httpx.get(
        base_url + path, headers={"Host": "links.shop.example", "User-Agent": agent}, timeout=60
    )
    return str(answer.headers.get("Location", ""))
