"""`waylink links explain`: what a tap does, with an exit code for CI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from tests.domain.taps.test_matching import FINGERPRINT, manifest
from tests.processes.service_process import ServiceProcess, invoke

DOMAIN = "go.taps.example"
APPS = (
    *("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.shop.app"),
    *("--android-package", "com.shop.app", "--android-fingerprint", FINGERPRINT),
)


@pytest.fixture(scope="module")
def link_id(running: ServiceProcess, org_id: OrgId) -> str:
    """A link that opens the app on both systems."""
    running.command("domain", "add", DOMAIN, "--org", org_id)
    running.command("app", "set", DOMAIN, "--org", org_id, *APPS)
    fields = [f'domain="{DOMAIN}"', 'selected_path="a"', "ios_behavior=2", "android_behavior=2"]
    given = [argument for text in fields for argument in ("--field", text)]
    made = running.command(
        *("links", "create", "--org", org_id, "--name", "A", "--destination", "https://a.example/"), *given
    )
    return str(made["id"])


def explain(running: ServiceProcess, *arguments: str) -> tuple[int, str]:
    """The exit code, and what is printed."""
    done = invoke("links", "explain", *arguments, environment=running.environment)
    return done.exit_code, done.output


def test_every_phone_opens_the_app(running: ServiceProcess, link_id: str) -> None:
    """By the link's id or short URL; the exit code says whether it is as expected."""
    code, printed = explain(running, f"https://{DOMAIN}/a", "--expect", "app")
    assert (code, "So it is." in printed) == (0, True)
    code, printed = explain(running, link_id, "--expect", "browser", "--json")
    assert code == 1
    failing = json.loads(printed)["failing"]
    assert [tap["device"] for tap in failing] == ["ios", "android_15", "android_14"]
    code, printed = explain(running, link_id)
    assert (code, "assetlinks.json verifies the domain" in printed) == (0, True)


def test_an_address_that_means_the_link(running: ServiceProcess, link_id: str) -> None:
    """What a text or a QR code has of the short URL is explained as phones take it: Apple's rules open the
    app for a slash behind a path, and tell capitals from small letters."""
    assert link_id
    code, printed = explain(running, f"{DOMAIN}/a%20", "--json")
    assert (code, json.loads(printed)["short_url"]) == (0, f"https://{DOMAIN}/a")
    assert explain(running, f"HTTPS://{DOMAIN.upper()}/A")[0] == 0
    code, printed = explain(running, f"{DOMAIN}/b/")
    assert (code, "There is no link" in printed) == (1, True)


def test_files_as_phones_have_them(running: ServiceProcess, link_id: str, tmp_path: Path) -> None:
    """A file of Apple's cache, and the manifest of the app, decide in place of what is taken for granted."""
    cached, xml = tmp_path / "aasa.json", tmp_path / "AndroidManifest.xml"
    cached.write_text(
        '{"applinks": {"details": [{"appID": "A1B2C3D4E5.com.shop.app", "paths": ["NOT /a", "*"]}]}}'
    )
    xml.write_text(manifest('<data android:host="go.taps.example"/><data android:pathPrefix="/b"/>'))
    code, printed = explain(
        running, link_id, "--apple-file", str(cached), "--manifest", str(xml), "--expect", "app"
    )
    assert (code, "Otherwise on: ios, android_15, android_14" in printed) == (1, True)
    xml.write_text("no xml")
    code, printed = explain(running, link_id, "--manifest", str(xml))
    assert (code, "it is not XML" in printed) == (1, True)
    xml.write_bytes(b"\xff")
    assert "it is not text in UTF-8" in explain(running, link_id, "--manifest", str(xml))[1]
    cached.write_text("[")
    assert "it is not JSON" in explain(running, link_id, "--apple-file", str(cached))[1]
    assert "There is no link" in explain(running, "https://go.taps.example/none")[1]
