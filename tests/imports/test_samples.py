"""The sample files of docs/moving-in.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backend.imports.link_csv import read_rows
from backend.imports.link_import import LinkImport, RowOutcome
from backend.storage.driver.mongo import Database
from backend.storage.links.links import list_links
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
NAMED = {
    "short_url": "link",
    "destination_url": "long_url",
    "link_name": "title",
    "is_archived": "archived",
    "imported_clicks": "clicks",
    "tags": "tags",
}
DEFAULTS = {"link_name": "{path}", "imported_from": "Our old service"}


@pytest.mark.parametrize(
    ("name", "named", "count"), [("links.csv", {}, 4), ("other-service.csv", NAMED, 2)], ids=["ours", "other"]
)
async def test_samples(
    database: Database, organization: TestOrganization, name: str, named: dict[str, str], count: int
) -> None:
    """Every row of a sample becomes a link, with the options that the page gives."""
    rows = [
        replace(row, cells=row.cells | {"domain": organization.domain})
        for row in read_rows(SAMPLES / name, named, DEFAULTS if named else {})
    ]
    report = await LinkImport(database, organization.id, utc_now(), dry_run=False).run(rows, lambda _: None)
    assert report.counts == {RowOutcome.CREATED: count}
    imported = await list_links(database, organization.id, skip=0, limit=9)
    tags = sorted(len(link.tag_ids) for link in imported if link.tag_ids)
    # One of ours is disabled; one of theirs is archived there, which is a tag here.
    expected = ([1, 2], count) if named else ([2], count - 1)
    assert (tags, sum(link.is_enabled for link in imported)) == expected
    assert [link.imported_clicks is None for link in imported] == [not named] * count
