"""`waylink app`: the apps of an organization's domains, seen by who opens the links."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

DOMAIN = "go.apps.example"
FINGERPRINT = ":".join(["AB"] * 32)
IOS = ("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.shop.app", "--app-store-id", "1234567890")
IN_APP = ("--ios-scheme", "shopapp", "--clipboard-page", "--mail-page", "--in-app-page")
ANDROID = ("--android-package", "com.shop.app", "--android-fingerprint", FINGERPRINT.lower())


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> OrgId:
    """An organization with a domain."""
    org_id = OrgId(running.command("organization", "create", "Apps")["id"])
    running.command("domain", "add", DOMAIN, "--org", org_id)
    return org_id


def association(running: ServiceProcess, path: str) -> httpx.Response:
    """The file that phones fetch from the domain."""
    return httpx.get(f"{running.base_url}/.well-known/{path}", headers={"host": DOMAIN}, timeout=60)


def is_unknown(status: int) -> bool:
    """Whether the file is not there: every process keeps one for a second."""
    return status == 404


def test_apps_are_set_listed_and_taken_away(running: ServiceProcess, org_id: OrgId) -> None:
    """What was set is listed and served on the domain; setting again replaces it, without options by none."""
    ios = {
        "team_id": "A1B2C3D4E5",
        "bundle_id": "com.shop.app",
        "app_store_id": "1234567890",
        "custom_scheme": "shopapp",
        "clipboard_page": True,
        "mail_page": True,
    }
    android = {"package": "com.shop.app", "fingerprints": [FINGERPRINT]}
    set_both = done(running, "set", "Go.Apps.example.", "--org", org_id, *IOS, *ANDROID, *IN_APP)
    assert set_both == {"domain": DOMAIN, "ios": ios, "android": android, "in_app_page": True}
    assert done(running, "list", "--org", org_id)["apps"] == [set_both]
    assert association(running, "apple-app-site-association").json()["applinks"]["details"]
    assert association(running, "assetlinks.json").json()[0]["target"]["sha256_cert_fingerprints"] == [
        FINGERPRINT
    ]

    done(running, "set", DOMAIN, "--org", org_id, *IOS[:4])
    [listed] = done(running, "list", "--org", org_id)["apps"]
    assert (listed["ios"]["app_store_id"], listed["android"]) == (None, None)
    wait_for(lambda: association(running, "assetlinks.json").status_code, "still served", is_unknown)

    done(running, "set", DOMAIN, "--org", org_id, "--yes")
    wait_for(
        lambda: association(running, "apple-app-site-association").status_code, "still served", is_unknown
    )


def test_another_organization_has_its_own_apps(running: ServiceProcess, org_id: OrgId) -> None:
    """Nobody sets the apps of another organization's domain, or sees them."""
    done(running, "set", DOMAIN, "--org", org_id, *IOS)
    other = str(running.command("organization", "create", "Other")["id"])
    assert done(running, "list", "--org", other)["apps"] == []
    assert "does not belong to the organization" in refusal(running, DOMAIN, "--org", other, *IOS)
    assert done(running, "list", "--org", org_id)["apps"][0]["ios"]["bundle_id"] == "com.shop.app"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--ios-team-id", "A1B2C3D4E5"), "iOS bundle id is needed for an iOS app"),
        (("--app-store-id", "1"), "iOS team id is needed for an iOS app"),
        (("--ios-team-id", "short", "--ios-bundle-id", "com.shop"), "iOS team id 'short' must be 10 capital"),
        (("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com..shop"), "iOS bundle id 'com..shop' must"),
        ((*IOS[:4], "--app-store-id", "id12"), "App Store id 'id12' must be digits"),
        (("--android-package", "shop"), "Android package 'shop' must be names separated by dots"),
        (("--android-package", "com.shop", "--android-fingerprint", "AB:CD"), "fingerprint 'AB:CD' must be"),
        (("--android-fingerprint", FINGERPRINT), "Android package is needed where"),
        (("--in-app-page",), "--in-app-page needs an app"),
        ((*IOS[:4], "--mail-page"), "Page for visitors out of mails needs the custom scheme"),
        ((*IOS[:4], "--clipboard-page"), "Page before the App Store needs the App Store id"),
    ],
)
def test_bad_apps_are_named(
    running: ServiceProcess, org_id: OrgId, options: tuple[str, ...], sentence: str
) -> None:
    """An identifier that breaks its rule is named with the rule, and changes nothing."""
    before = done(running, "list", "--org", org_id)
    assert sentence in refusal(running, DOMAIN, "--org", org_id, *options)
    assert done(running, "list", "--org", org_id) == before


def test_a_domain_that_is_no_host_name(running: ServiceProcess, org_id: OrgId) -> None:
    """A domain must be a host name that the organization has."""
    assert "host name" in refusal(running, "not a host", "--org", org_id, *IOS)
    assert "There is no organization" in refusal(running, DOMAIN, "--org", "nobody", *IOS)


def done(running: ServiceProcess, *arguments: str) -> dict[str, Any]:
    """What `waylink app ARGUMENTS` printed, which must succeed."""
    return running.command("app", *arguments)


def refusal(running: ServiceProcess, *arguments: str) -> str:
    """What `waylink app set` says when it must fail, on one line."""
    return " ".join(running.refusal("app", "set", *arguments).split())
