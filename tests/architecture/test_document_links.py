"""The links between the pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks/RESULTS.md",
    ROOT / "proxy_example/README.md",
]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(page: Path) -> set[str]:
    """What a link may name behind #: the headings, as GitHub writes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    """Each file that it links to is there, and has the heading that is named."""
    for name, anchor in LINK.findall(document.read_text()):
        target = (document.parent / name) if name else document
        assert target.exists(), f"{name} is not there"
        assert not anchor or anchor in anchors(target), f"{name} has no heading #{anchor}"


def test_the_index_has_every_page() -> None:
    """docs/README.md links to each page beside it."""
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    linked = {name for name, _ in LINK.findall((ROOT / "docs" / "README.md").read_text())}
    assert pages - linked == set()
