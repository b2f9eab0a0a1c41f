"""What is found of the host's files of figures: those that had trouble, of everybody or one organization."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prometheus_client import REGISTRY

from backend.doctor.columns import examine_columns, examine_figures
from backend.domain.finding import Severity
from backend.domain.ids import OrgId
from backend.operations.figures import troubles_of_files
from backend.settings import Settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.file_troubles import FileTroubles, Remedy
from backend.storage.analytics.messages import folder_in
from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE, OTHER = OrgId("one"), OrgId("other")


async def test_a_figure_is_asked_for(
    database: Database, organization: TestOrganization, settings: Settings, tmp_path: Path
) -> None:
    """Where the process that answers can't start, that is an error which says why; else all is well."""
    owner = await get_organization(database, organization.id)
    (tmp_path / "analytics").touch()
    settings = replace(settings, data_dir=tmp_path)
    finding = await examine_figures(database, settings, owner)
    assert finding.severity is Severity.ERROR
    assert "is not answered: The folder of the figures, " in finding.message
    (tmp_path / "analytics").unlink()
    finding = await examine_figures(database, settings, owner)
    assert (finding.severity, finding.message) == (
        Severity.OK,
        f"A question about {owner.name} is answered.",
    )


def test_a_file_that_had_trouble(settings: Settings, tmp_path: Path) -> None:
    """The doctor and a metric name the file and the organization for seven days, and how often it was."""
    settings = replace(settings, data_dir=tmp_path)
    folder = folder_in(tmp_path)
    folder.mkdir()
    assert list(examine_columns(settings, None, NOW)) == []
    troubles = FileTroubles(folder)
    troubles.note(ONE, "one.duckdb", "a bit is wrong", NOW - timedelta(minutes=1), Remedy.OPENED_AGAIN)
    troubles.note(ONE, "one.duckdb", "a bit is wrong", NOW, Remedy.MADE_ANEW)
    troubles.note(OTHER, "other.duckdb", "too many open files", NOW - timedelta(days=2), Remedy.NONE)
    [of_one] = examine_columns(settings, ONE, NOW)
    assert of_one.severity is Severity.WARNING
    assert of_one.subject == "figures of one"
    assert "one.duckdb had trouble 2 times, last on 2026-03-01 at 12:00 UTC" in of_one.message
    assert "made anew from what MongoDB has: a bit is wrong." in of_one.message
    [of_other] = examine_columns(settings, OTHER, NOW)
    assert of_other.severity is Severity.ERROR
    assert "UTC, and was left as it is: too many open files." in of_other.message
    assert len(list(examine_columns(settings, None, NOW))) == 2
    troubles_of_files(folder, lambda: NOW)()
    labels = {"organization": "one", "file": "one.duckdb"}
    assert REGISTRY.get_sample_value("waylink_figures_file_troubles", labels) == 2
    later = NOW + timedelta(days=6)
    assert [finding.subject for finding in examine_columns(settings, None, later)] == ["figures of one"]
    troubles_of_files(folder, lambda: later + timedelta(days=2))()
    assert REGISTRY.get_sample_value("waylink_figures_file_troubles", labels) is None
