"""Rule 10: with a first-party `baseUrl`, requests go there, as POST to the path of the service.

The proxies themselves, in front of the real service, are in tests/proxy/test_in_a_browser.py.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import BATCH_PATH, RecordingServer, recording_server
from tests.browser.shop_pages import CONVERSION, device_cookie, expect_sent, visit


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("location.origin", BATCH_PATH),
        ("'/'", BATCH_PATH),
        ("'/metrics'", "/metrics" + BATCH_PATH),
        ("'/metrics/'", "/metrics" + BATCH_PATH),
        ("'/metrics.jsp'", "/metrics.jsp" + BATCH_PATH),
        ("'/metrics.js/'", "/metrics.js" + BATCH_PATH),
        ("'/metrics.js'", "/metrics"),
        ("'/metrics/waylink.js'", "/metrics" + BATCH_PATH),
    ],
)
def test_a_path_of_the_sites_own_origin(page: Page, server: RecordingServer, address: str, path: str) -> None:
    """Must arrive, at the service's path below `baseUrl` and with the site's cookies: every call.

    A `baseUrl` that is the script's address gives its name to the calls too, as a script tag does.
    """
    visit(page, server, options=f"baseUrl: {address}")
    page.evaluate(CONVERSION)
    expect_sent(page, server, "attribution", "conversion")
    assert {request["path"] for request in server.requests} == {path}
    cookie = f"cl_device_id={device_cookie(page)['value']}"
    assert all(cookie in request["headers"]["Cookie"] for request in server.requests)


def test_a_subdomain_of_the_site(page: Page, server: RecordingServer) -> None:
    """Must arrive there, without a preflight and without cookies: every call. Must not arrive at the site."""
    with recording_server() as proxy:
        visit(page, server, options=f"baseUrl: '{proxy.url('', 'data.' + server.host)}'")
        page.evaluate(CONVERSION)
        expect_sent(page, proxy, "attribution", "conversion")
        assert {request["path"] for request in proxy.requests} == {BATCH_PATH}
        assert not any("Cookie" in request["headers"] for request in proxy.requests)
    assert server.requests == []
