"""What the integrations put onto a page, in Firefox and WebKit; the files beside show each in Chromium."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.recording_server import SDK, RecordingServer
from tests.browser.visitor import Visitor, in_other_engines
from tests.integrations.shop_page import HOST, KEY, platform
from tests.integrations.test_shopify import theme
from tests.integrations.test_tag_manager import CODE, PERMISSIONS
from tests.integrations.test_wordpress import head


def wordpress(server: RecordingServer) -> str:
    """What the plugin writes, and a consent plugin."""
    return head(server) + platform("wp-consent-api")


def shopify(server: RecordingServer) -> str:
    """A shop, and the theme's snippet."""
    return platform("shopify") + theme(server)


def tag_manager(server: RecordingServer) -> str:
    """Tag Manager, which fires the tag "Start"."""
    start = {
        "action": "start",
        "script": server.url("/waylink.js", HOST),
        "apiKey": KEY,
        "consentType": "analytics_storage",
    }
    permissions = f"<script>permissions = {json.dumps(PERMISSIONS)}</script>"
    fire = f"<script>platform.fire(...{json.dumps([CODE, start])})</script>"
    return permissions + platform("tag-manager") + fire


@in_other_engines
@pytest.mark.parametrize("integration", [wordpress, shopify, tag_manager], ids=lambda made: made.__name__)
def test_a_visitor_answers(
    visitor: Visitor, tmp_path: Path, integration: Callable[[RecordingServer], str]
) -> None:
    """Nothing is sent without an answer; with consent the visit is measured; a refusal leaves nothing."""
    shutil.copy(SDK / "waylink.js", tmp_path)
    title = '<!doctype html><title>Shop</title><link rel="icon" href="data:,">'
    (tmp_path / "shop.html").write_text(title + integration(visitor.server))
    visitor.server.folder = tmp_path
    visitor.open("/shop.html?utm_source=mail")
    assert (visitor.js("window.Waylink?.hasConsent() ?? false"), visitor.sent) == (False, [])
    visitor.js("void platform.answer('agreed')")
    (check,) = visitor.server.wait_for(1)
    assert check["signals"] == {"utm_source": "mail"}
    visitor.js("void platform.answer('refused')")
    refused = "Waylink.trackEvent('late').then((outcome) => outcome === undefined)"
    assert (visitor.js(refused), "cl_device_id" in visitor.js("document.cookie")) == (True, False)
