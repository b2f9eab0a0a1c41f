"""The link that somebody may have meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links import nearest
from backend.storage.links.nearest import Candidates, find_nearest, nearest_path
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.redirector.sample_pages import link

CHOICES = ["Spring", "summer/sale", "winter", "x"]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("sprnig", "Spring"),  # two letters changed places
        ("SPRING", "Spring"),
        ("spring/", "Spring"),
        ("spring).", "Spring"),
        ("spring/extra/words", "Spring"),
        ("summer", "summer/sale"),
        ("sum", None),
        ("wintr", "winter"),
        ("y", "x"),
        ("autumn", None),
        ("...", None),
    ],
)
def test_typing_errors_find_their_link(path: str, meant: str | None) -> None:
    """Few wrong letters, another case, marks at the end, a part that is cut or too much."""
    assert nearest_path(path, Candidates.of(CHOICES)) == meant


async def test_only_links_that_work_are_near(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the organization, on that domain; on a domain with very many links, those that begin alike."""
    fields = [("spring", True), ("autumn", False), ("sprint-results", True)]
    await insert_links(
        database,
        [
            replace(
                link({}), id=LinkId(f"{organization.id}{path}"), org_id=organization.id,
                domain=organization.domain, path=path, is_enabled=is_enabled,
            )
            for path, is_enabled in fields
        ],
    )  # fmt: skip
    asked = ["sprng", "autum", "pring"]
    found = await find_nearest(database, organization.id, organization.domain, asked)
    assert found == {"sprng": "spring", "pring": "spring"}
    assert await find_nearest(database, OrgId("other"), organization.domain, asked) == {}
    monkeypatch.setattr(nearest, "MOST_COMPARED", 1)
    found = await find_nearest(database, organization.id, organization.domain, asked)
    assert found == {"sprng": "spring"}
