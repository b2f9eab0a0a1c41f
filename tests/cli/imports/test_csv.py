"""`waylink import csv` beside a running service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke


def test_import_csv(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """A dry run, the import, and the import again say what they did; refused rows are in a file beside it."""
    running.command("domain", "add", "go.imported.example", "--org", org_id)
    file = tmp_path / "links.csv"
    file.write_text(
        "domain,selected_path,destination_url,link_name\n"
        "go.imported.example,a,https://shop.example/a,A\n"
        "go.imported.example,..,https://shop.example/b,B\n"
    )
    command = ("import", "csv", str(file), "--org", org_id)
    report = str(tmp_path / "links.refused.csv")
    dry = running.command(*command, "--dry-run", exit_code=3)
    [because] = dry.pop("refused_because")
    assert because["reason"].startswith("selected_path must be segments")
    assert (because["rows"], because["lines"]) == (1, [3])
    nothing: dict[str, list[str]] = {"missing_domains": [], "new_tags": [], "not_taken_over": []}
    same = {"refused": 1, "report": report, "more_reasons": 0, "archived": 0} | nothing
    assert dry == same | {"would_be_created": 1, "already_there": 0, "dry_run": True}
    expected = same | {"created": 1, "already_there": 0, "dry_run": False, "refused_because": [because]}
    assert running.command(*command, exit_code=3) == expected
    assert running.command(*command, exit_code=3) == expected | {"created": 0, "already_there": 1}
    assert "selected_path must be segments" in Path(report).read_text(encoding="utf-8")
    nowhere = running.refusal(*command, "--report", str(tmp_path / "missing" / "report.csv"))
    assert "The report can't be written" in nowhere


def test_rows_that_come_by_stdin(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """The refused ones of a file are beside it, those of a pipe in the current folder, and none in /dev."""
    (tmp_path / "there").mkdir()
    file = tmp_path / "there" / "links.csv"
    file.write_text("domain,destination_url,link_name\nno.example,https://shop.example/,A\n")
    command = (sys.executable, "-m", "backend.cli", "import", "csv", "/dev/stdin", "--org", org_id, "--json")
    environment = {**os.environ, **running.environment}
    piped = subprocess.run(
        command, input=file.read_bytes(), cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    with file.open() as opened:
        named = subprocess.run(
            command, stdin=opened, cwd=tmp_path, env=environment, capture_output=True, check=False
        )
    reports = [json.loads(done.stdout)["report"] for done in (piped, named)]
    assert reports == ["stdin.refused.csv", str(tmp_path / "there" / "links.refused.csv")]
    assert (tmp_path / "stdin.refused.csv").is_file()


def test_a_corrected_report_stays(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """Another run leaves the file alone that somebody has corrected. It has no password, and nobody else may
    read it; a link that asked for one is disabled until it does again."""
    running.command("domain", "add", "go.corrected.example", "--org", org_id)
    file, report = tmp_path / "links.csv", tmp_path / "links.refused.csv"
    file.write_text(
        "domain,selected_path,destination_url,link_name,password\n"
        "go.corrected.example,..,https://shop.example/a,A,open sesame\n"
        "go.corrected.example,number,https://shop.example/a,A,1.23E+11\n"
    )
    command = ("import", "csv", str(file), "--org", org_id)
    told = running.command(*command, exit_code=3)
    assert report.stat().st_mode & 0o777 == 0o600
    written = report.read_text()
    assert "sesame" not in written + str(told)
    assert "1.23E+11" not in written + str(told)
    corrected = written.replace(",..,", ",vault,")
    report.write_text(corrected)
    again = running.command(*command, exit_code=3)
    assert (report.read_text(), again["report"]) == (corrected, str(tmp_path / "links.refused-2.csv"))
    assert running.command(*command, exit_code=3)["report"] == again["report"]
    running.command("import", "csv", str(report), "--org", org_id)
    [link, vault] = sorted(
        running.stored("links", domain="go.corrected.example"), key=lambda link: link["path"]
    )
    assert (link["is_enabled"], vault["is_enabled"]) == (False, False)


def test_what_people_read(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """Tables of what happened, of the reasons with some of their lines, and of what was not taken over; a dry
    run says "would be created" and never "created" alone."""
    running.command("domain", "add", "go.readable.example", "--org", org_id)
    file = tmp_path / "links.csv"
    good = "go.readable.example,a,https://shop.example/a,A,spring\n"
    file.write_text(
        "domain,selected_path,destination_url,link_name,tags\n" + good
        + "".join(f"go.readable.example,b{n},shop,B,\n" for n in range(12))
        + "go.elsewhere.example,c,https://shop.example/c,C,\n"
    )  # fmt: skip
    command = ("import", "csv", str(file), "--org", org_id)
    done = invoke(*command, "--dry-run", environment=running.environment)
    printed = "Dry run: nothing was stored.\n\n" + (
        "LINKS             ROWS\n"
        "would be created  1\n"
        "already there     0\n"
        "refused           13\n"
        "\n"
        "REFUSED BECAUSE                                                     ROWS  LINES\n"
        "destination_url must be an absolute http or https URL               12    "
        "3, 4, 5, 6, 7, 8, 9, 10 …\n"
        "domain go.elsewhere.example is not configured for the organization  1     15\n"
        "\n"
        "Tags that would be made: spring\n"
        "\n"
        "Refused rows, to correct and to import with `waylink import csv`: "
        f"{tmp_path / 'links.refused.csv'}\n"
    )
    assert [line.split() for line in done.stdout.splitlines()] == [
        line.split() for line in printed.splitlines()
    ]
    assert "created" not in done.stdout.replace("would be created", "")
    assert (
        "go.elsewhere.example is no link domain of the organization. If it is yours: "
        f"waylink domain add go.elsewhere.example --org {org_id}\n" in done.stderr
    )
    done = invoke(*command, environment=running.environment)
    assert done.stdout.startswith("LINKS          ROWS\ncreated        1\n")


def test_columns_and_defaults(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """`--column`, `--default` and `--domain` make links of another service's file; a name that is no column
    of ours is refused."""
    running.command("domain", "add", "go.columns.example", "--org", org_id)
    file = tmp_path / "other.csv"
    file.write_text("link,long_url,title,stopped\nold.example/a,https://shop.example/a,,true\n")
    command = ("import", "csv", str(file), "--org", org_id)
    columns = ("short_url=link", "destination_url=long_url", "link_name=title", "is_disabled=stopped")
    options = [part for pair in columns for part in ("--column", pair)]
    done = running.command(
        *command, *options, "--default", "link_name={path}", "--domain", "old.example=go.columns.example"
    )
    assert (done["created"], done["refused"]) == (1, 0)
    [link] = running.stored("links", domain="go.columns.example")
    assert (link["link_name"], link["is_enabled"]) == ("a", False)
    assert "nothing is none of" in running.refusal(*command, "--default", "nothing=1")
    assert "must be NAME=VALUE, each name once" in running.refusal(*command, "--domain", "old.example")
    assert "There are: " in running.refusal(*command, *options, "--default", "link_name={nothing}")
