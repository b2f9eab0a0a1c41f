"""The file of links that redirect after a start without the database."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.domains.settings import (
    Brand,
    DomainSettings,
    LinkDomain,
    OwnText,
    PageLanguage,
    PageText,
)
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Behavior, Link
from backend.redirector.links import file as link_file
from backend.redirector.links.file import LinkFile, hosts_in

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
APPS = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123"), AndroidApp("com.shop.app", ("AB:" * 31 + "AB",)))


def link_at(path: str) -> Link:
    """A link with fields of every kind that a redirect needs."""
    return Link(
        id=LinkId(path),
        org_id=OrgId("o"),
        domain="go.file.localhost",
        path=path,
        destination_url="https://shop.example/ü",
        link_name="",
        created_at=EPOCH,
        modified_at=EPOCH,
        is_enabled=False,
        ios_behavior=Behavior.APP,
        utm={"utm_source": "file"},
        fallbacks={"desktop_url": "https://shop.example/desktop"},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one link and its apps."""
    file_at(tmp_path / "links.cache").write([(link_at("one"), APPS)], NOW)
    return tmp_path / "links.cache"


def file_at(path: Path, database: str = "here/waylink", longest_use: timedelta = DAY) -> LinkFile:
    """The file of a service on a database."""
    return LinkFile(path, database, longest_use)


def test_links_come_back_as_they_were(path: Path) -> None:
    """Every field that a redirect needs and no other, and the apps, in order; only the owner may read it."""
    links = [(replace(link_at("b"), forwards_path=True), APPS), (link_at("a"), Apps())]
    named = [(replace(link, external_id="sku-7"), apps) for link, apps in links]
    file_at(path).write(named, NOW, (1_800_000_000, 7))
    kept = file_at(path).read(NOW + DAY)
    assert (kept.links, kept.cluster_time) == (links, (1_800_000_000, 7))
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_one_that_can_not_be_written_or_read_is_left_out(path: Path) -> None:
    """Whatever is damaged in one organization's link or domain, the file has those of the others, and is
    used."""
    damaged: Any = datetime.now(UTC)
    fields = ("destination_url", "utm", "fallbacks", "domain")
    bad = [(replace(link_at(name), **{name: damaged}), APPS) for name in fields]
    domain = LinkDomain(OrgId("o"), DomainSettings(root_url="https://shop.example/"))
    unwritable = replace(domain, settings=replace(domain.settings, root_url=damaged))
    good = [(link_at("a"), APPS), (link_at("b"), APPS)]
    file_at(path).write([good[0], *bad, good[1]], NOW, None, {"bad": unwritable, "good": domain})
    kept = file_at(path).read(NOW)
    assert (kept.links, kept.domains) == (good, {"good": domain})
    unreadable = replace(link_at("c"), ios_behavior="often")  # type: ignore[arg-type]
    file_at(path).write([good[0], (unreadable, APPS), good[1]], NOW)
    assert file_at(path).read(NOW).links == good


def test_domains_come_back_with_their_settings(path: Path) -> None:
    """Those that have some, so that pages have their brand also after a start without the database."""
    texts = {PageLanguage.GERMAN: {OwnText.NOT_FOUND: PageText("Nichts", "Hier ist nichts.")}}
    brand = Brand(name="Kites", color="#ffe600")
    own = LinkDomain(OrgId("o"), DomainSettings("https://shop.example/", None, brand, texts, "Allow: /\n"))
    domains = {"go.file.localhost": own, "go.plain.localhost": LinkDomain(OrgId("o"))}
    file_at(path).write([(link_at("a"), APPS)], NOW, None, domains)
    kept = file_at(path).read(NOW)
    assert (len(kept.links), kept.domains) == (1, {"go.file.localhost": own})


def test_a_file_that_was_changed_is_not_used(path: Path) -> None:
    """A byte more, less or changed, at any place that was tried: no link of it is used."""
    content = path.read_bytes()
    for spoilt in (
        content[:-1],
        content + b"x",
        content.replace(b"shop", b"evil"),
        b"",
        b"\xff\n",
        b"[]\n{}",
    ):
        path.write_bytes(spoilt)
        assert file_at(path).read(NOW).links == []
    path.write_bytes(content)
    assert len(file_at(path).read(NOW).links) == 1


def test_a_file_that_others_may_write_is_not_used(path: Path) -> None:
    """Who may write it could lead visitors anywhere."""
    path.chmod(0o666)
    assert file_at(path).read(NOW).links == []


@pytest.mark.parametrize(
    ("file", "at"),
    [
        ({"database": "there/waylink"}, NOW),
        ({}, NOW + DAY + timedelta(seconds=1)),
        ({}, NOW - timedelta(seconds=1)),
        ({"longest_use": timedelta()}, NOW),
    ],
    ids=["another database", "too old", "from the future", "turned off"],
)
def test_a_file_for_another_place_or_time_is_not_used(
    path: Path, file: dict[str, object], at: datetime
) -> None:
    """Links of another database, or that may have changed for too long, lead nobody."""
    assert file_at(path, **file).read(at).links == []  # type: ignore[arg-type]


def test_a_file_that_can_not_be_written_leaves_the_one_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is replaced as a whole or not at all."""
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        file_at(path).write([(link_at("two"), APPS)], NOW)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def full_disk(_: int) -> None:
    """What a full disk may first say when it is to keep what was written."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_file_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In links and in bytes; those that come first are kept."""
    links = [(link_at(str(number)), Apps()) for number in range(20)]
    monkeypatch.setattr(link_file, "MOST_LINKS", 5)
    file_at(path).write(links, NOW)
    assert file_at(path).read(NOW).links == links[:5]
    monkeypatch.setattr(link_file, "_MOST_FILE_BYTES", 1000)
    file_at(path).write(links, NOW)
    kept = file_at(path).read(NOW).links
    assert 0 < len(kept) < 5
    assert kept == links[: len(kept)]


@pytest.mark.parametrize(
    ("uri", "hosts"),
    [
        ("mongodb://me:secret@one:27017,two/?tlsCertificateKeyFilePassword=secret", "one:27017,two"),
        ("mongodb://me:se?ret@one/waylink?appName=a@b", "one"),
        ("mongodb://one?replicaSet=rs", "one"),
        (None, ""),
    ],
)
def test_no_password_is_in_the_file(uri: str | None, hosts: str) -> None:
    """Of a database's address only the hosts are kept, not its password nor that of a certificate."""
    assert hosts_in(uri) == hosts
